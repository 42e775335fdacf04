await memory.create_entities({
  entities: [
    { name: 'Brest', entityType: 'station', observations: ['deep'] },
    { name: 'Dover', type: 'station', observations: 'shallow' },
  ],
});
