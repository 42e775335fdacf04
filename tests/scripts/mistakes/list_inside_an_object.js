const graph = await memory.read_graph({});
for (const entity of graph) {
  console.log(entity.name);
}
