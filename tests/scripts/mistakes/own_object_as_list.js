const { entities } = await memory.read_graph({});
const found = { stations: entities.filter((entity) => entity.entityType === 'station'), total: entities.length };
return found.map((station) => station.name);
