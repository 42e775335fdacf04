const answers = await Promise.all([
  fs.list_directory({ path: '.' }),
  memory.search_node({ query: 'x' }),
]);
return answers.length;
