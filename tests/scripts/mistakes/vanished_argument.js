await memory.create_entities({ entities: [{ name: 'a', entityType: 'letter', observations: [] }] });
return await fs.list_directory({ path: '.', depth: Number('two') });
