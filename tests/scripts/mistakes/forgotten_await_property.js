const file = fs.read_text_file({ path: 'README.md' });
const title = file.content.split('\n')[0];
return title;
