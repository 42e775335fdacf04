// Add an observation, and make the entity first if it is not there.
async function remember(name, fact) {
  const { entities } = await memory.open_nodes({ names: [name] });
  if (entities.length === 0) {
    await memory.create_entities({ entities: [{ name, entityType: 'fact', observations: [] }] });
  }
  const [{ addedObservations }] = (await memory.add_observations({ observations: [{ entityName: name, contents: [fact] }] })).results;
  return addedObservations.length > 0;
}

const added = [];
for (const fact of ['tide is high', 'tide is low', 'tide is high']) added.push(await remember('brest', fact));
const { entities: [brest] } = await memory.open_nodes({ names: ['brest'] });
return { added, observations: brest.observations };
