const graph = await memory.read_graph({});
return graph.nodes.length;
