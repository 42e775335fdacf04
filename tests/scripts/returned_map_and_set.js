const servers = new Map();
for (const { path, effect } of await tools.list()) {
  const [server] = path.split('.');
  if (!servers.has(server)) servers.set(server, new Map());
  const effects = servers.get(server);
  effects.set(effect, (effects.get(effect) ?? 0) + 1);
}
return { git: servers.get('git'), names: new Set([...servers.keys()].sort()) };
