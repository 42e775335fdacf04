const graph = JSON.parse(await memory.read_graph({}));
return graph.entities.length;
