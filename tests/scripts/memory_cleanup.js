await memory.create_entities({
  entities: Array.from({ length: 6 }, (_, i) => ({ name: `note-${i}`, entityType: i % 2 ? 'draft' : 'final', observations: [] })),
});
const graph = await memory.read_graph({});
const drafts = graph.entities.filter((entity) => entity.entityType === 'draft').map((entity) => entity.name);
await memory.delete_entities({ entityNames: drafts });
return { deleted: drafts, left: (await memory.read_graph({})).entities.map((entity) => entity.name) };
