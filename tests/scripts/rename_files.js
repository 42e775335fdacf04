const { content } = await fs.list_directory({ path: 'notes' });
const markdown = content.split('\n').map((line) => line.replace('[FILE] ', '')).filter((name) => name.endsWith('.md'));
for (const name of markdown) {
  await fs.move_file({ source: `notes/${name}`, destination: `notes/2026-${name}` });
}
return (await fs.list_directory({ path: 'notes' })).content.split('\n').sort();
