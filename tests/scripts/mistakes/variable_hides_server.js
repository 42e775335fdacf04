function count(memory) {
  return memory.read_graph({});
}
return await count({ size: 3 });
