const tree = { name: 'root', children: [] };
tree.children.push({ name: 'leaf', parent: tree });
return tree;
