return await tools.read_graph({});
