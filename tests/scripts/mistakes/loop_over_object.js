const pkg = JSON.parse((await fs.read_text_file({ path: 'package.json' })).content);
const names = [];
for (const [name, range] of pkg.dependencies) {
  names.push(`${name}@${range}`);
}
return names;
