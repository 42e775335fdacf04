const response = await fs.read_text_file({ path: 'README.md' });
const text = response.content[0].text;
return text.split('\n')[0];
