return savedEntities.map((entity) => entity.name);
