const { items } = await memory.read_graph({});
return items.map((item) => item.name);
