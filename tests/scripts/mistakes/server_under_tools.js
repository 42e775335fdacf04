return await tools.memory.read_graph({});
