// Who of the people in memory lives in Lisbon, and where do they work?
const graph = await memory.search_nodes({ query: "Lisbon" });
const people = graph.entities.filter(e => e.entityType === "person");
const all = await memory.read_graph({});
return people.map(p => ({
  name: p.name,
  works: all.relations.filter(r => r.from === p.name && /work/i.test(r.relationType)).map(r => r.to),
}));
