const graph = memory.read_graph({});
return JSON.stringify(graph);
