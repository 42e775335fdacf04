const answers = await Promise.all([
  memory.read_graph({}),
  fs.list_directory({ path: '.' }),
  memory.search_node({ query: 'x' }),
]);
return answers.length;
