return await memory.read_graph({}).entities.map((entity) => entity.name);
