const { content } = await fs.list_directory({ path: 'notes' });
const names = content.split('\n').map((line) => line.replace('[FILE] ', ''));
const files = names.map((name) => fs.read_text_file({ path: `notes/${name}` }));
return files.map((file) => file.content.length);
