const defaults = Object.freeze({ path: '.', depth: 1 });
function options(path) {
  const own = defaults;
  own.path = path;
  return own;
}
return await fs.list_directory(options('notes'));
