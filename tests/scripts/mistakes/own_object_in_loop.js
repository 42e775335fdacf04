async function readAll(paths) {
  const texts = await Promise.all(paths.map((path) => fs.read_text_file({ path })));
  return { files: texts.map((text) => text.content), count: texts.length };
}
const result = await readAll(['notes/ideas.txt', 'notes/monday.md']);
for (const text of result) console.log(text.length);
