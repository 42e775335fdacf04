const list = await tools.list('git');
return {
  count: list.length,
  names: list.map((tool) => tool.path.replace('git.', '')).filter((name) => name.includes('branch')),
};
