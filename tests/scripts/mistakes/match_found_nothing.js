const { content } = await fs.read_text_file({ path: 'README.md' });
const version = content.match(/version (\d+\.\d+)/);
return version[1];
