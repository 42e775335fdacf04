const found = [];
for (let page = 1; page <= 2; page++) {
  found.push((await memory.search_nodes({ query: 'tide', page })).entities.length);
}
return found;
