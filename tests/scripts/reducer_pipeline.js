const pipe = (...steps) => (input) => steps.reduce(async (value, step) => step(await value), input);

const shout = pipe(
  (path) => fs.read_text_file({ path }),
  ({ content }) => content.split('\n').filter(Boolean),
  (lines) => lines.map((line) => everything.echo({ message: line.toUpperCase() })),
  (promises) => Promise.all(promises),
);

return await shout('notes/ideas.txt');
