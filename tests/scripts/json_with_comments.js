const { content } = await fs.read_text_file({ path: 'data/config.json' });
let config;
try {
  config = JSON.parse(content);
} catch (error) {
  console.warn('not plain JSON:', error.name);
  config = JSON.parse(content.replace(/\/\/.*$/gm, ''));
}
return config;
