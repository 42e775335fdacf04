const { content } = await fs.list_directory({ path: 'notes' });
const names = content.split('\n').map((line) => line.replace('[FILE] ', ''));
const long = names.filter(async (name) => (await fs.read_text_file({ path: `notes/${name}` })).content.length > 100);
return long;
