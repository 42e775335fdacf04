const tree = JSON.parse((await fs.directory_tree({ path: '.' })).content);

function* walk(nodes, prefix = '') {
  for (const node of nodes) {
    const path = prefix + node.name;
    if (node.type === 'directory') yield* walk(node.children, path + '/');
    else yield path;
  }
}

const byExtension = {};
for (const path of walk(tree)) {
  const extension = path.slice(path.lastIndexOf('.') + 1);
  (byExtension[extension] ||= []).push(path);
}
return Object.keys(byExtension).sort().map((ext) => `${ext}: ${byExtension[ext].sort().join(', ')}`);
