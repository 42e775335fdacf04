const memory = await memory.read_graph({});
return memory.entities.length;
