const { content } = await fs.list_directory({ path: 'notes' });
const lines = content.split('\n');
return lines[:2];
