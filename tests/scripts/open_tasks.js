async function tasksOf(path) {
  const { content } = await fs.read_text_file({ path });
  return [...content.matchAll(/^- \[( |x)\] (.+)$/gm)].map(([, mark, text]) => ({
    done: mark === 'x',
    text: text.replace(/\s*#\w+/g, ''),
    tags: [...text.matchAll(/#(\w+)/g)].map((m) => m[1]),
  }));
}

const listing = await fs.list_directory({ path: 'notes' });
const names = listing.content
  .split('\n')
  .filter((line) => line.startsWith('[FILE]') && line.endsWith('.md'))
  .map((line) => line.slice('[FILE] '.length))
  .sort();

const open = [];
for (const name of names) {
  const tasks = await tasksOf(`notes/${name}`);
  open.push(...tasks.filter((task) => !task.done).map((task) => ({ from: name, ...task })));
}
console.log(`${open.length} open tasks`);
return open;
