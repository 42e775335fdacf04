const { content } = await fs.read_text_file({ path: 'data/config.json' });
const config = JSON.parse(content);
return config.debug;
