const { entities } = await memory.create_entities({ entities: [{ name: 'docs', entityType: 'site', observations: [] }] });
return entities.map((entity) => new URL(entity.url).hostname);
