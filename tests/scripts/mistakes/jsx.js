const { entities } = await memory.read_graph({});
return <ul>{entities.map((entity) => <li>{entity.name}</li>)}</ul>;
