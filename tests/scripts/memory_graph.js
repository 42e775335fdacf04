await memory.create_entities({
  entities: [
    { name: 'Ada', entityType: 'person', observations: ['writes notes', 'likes engines'] },
    { name: 'Charles', entityType: 'person', observations: ['builds engines'] },
    { name: 'Engine', entityType: 'machine', observations: ['never finished'] },
  ],
});
await memory.create_relations({
  relations: [
    { from: 'Charles', to: 'Engine', relationType: 'designed' },
    { from: 'Ada', to: 'Engine', relationType: 'programmed' },
    { from: 'Ada', to: 'Charles', relationType: 'knows' },
  ],
});

const { entities, relations } = await memory.read_graph({});
const degree = Object.fromEntries(entities.map(({ name }) => [name, 0]));
for (const { from, to } of relations) {
  degree[from]++;
  degree[to]++;
}
const engines = await memory.search_nodes({ query: 'engines' });
return { degree, engines: engines.entities.map((e) => e.name) };
