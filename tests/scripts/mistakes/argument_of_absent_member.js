await memory.create_entities({ entities: [{ name: 'notes/ideas.txt', entityType: 'file', observations: [] }] });
const { entities } = await memory.read_graph({});
return await fs.read_text_file({ path: entities[0].path });
