const flatten = (value, path = '') =>
  value !== null && typeof value === 'object'
    ? Object.entries(value).flatMap(([key, inner]) => flatten(inner, path ? `${path}.${key}` : key))
    : [[path, value]];

const pkg = JSON.parse((await fs.read_text_file({ path: 'package.json' })).content);
return Object.fromEntries(flatten(pkg));
