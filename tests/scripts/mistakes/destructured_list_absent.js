const { nodes: [first] } = await memory.read_graph({});
return first.name;
