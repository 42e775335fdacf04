await memory.create_entities({ entities: [{ name: 'a', entityType: 'letter', observations: ['first'] }] });
const { entities } = await memory.read_graph({});
return entities.map((entity) => entity.notes.join(', '));
