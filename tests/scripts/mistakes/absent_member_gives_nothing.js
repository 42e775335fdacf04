await memory.create_entities({ entities: [{ name: 'Pier', entityType: 'station', observations: ['opened 1901'] }] });
const { entities } = await memory.read_graph({});
return entities.filter((entity) => entity.type === 'station').map((entity) => entity.name);
