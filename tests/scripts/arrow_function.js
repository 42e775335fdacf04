async () => {
  const { entities } = await memory.read_graph({});
  await memory.create_entities({
    entities: [
      { name: 'Brest', entityType: 'station', observations: ['height 4.2 m'] },
      { name: 'Dover', entityType: 'station', observations: ['height 5.8 m'] },
    ],
  });
  const after = await memory.read_graph({});
  return { before: entities.length, after: after.entities.map((e) => e.name) };
}
