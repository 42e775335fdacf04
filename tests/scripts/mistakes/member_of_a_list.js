await memory.create_entities({ entities: [{ name: 'a', entityType: 'letter', observations: ['first'] }] });
const graph = await memory.read_graph({});
return graph.entities.observations.length;
