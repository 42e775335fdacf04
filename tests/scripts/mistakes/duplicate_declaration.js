const content = (await fs.read_text_file({ path: 'README.md' })).content;
const content = (await fs.read_text_file({ path: 'docs/guide.md' })).content;
return content;
