const graph = await memory.read_graph({});
return graph.filter((entity) => entity.entityType === 'station');
