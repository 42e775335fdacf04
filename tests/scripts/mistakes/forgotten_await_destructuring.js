const { content } = fs.read_text_file({ path: 'README.md' });
return content.split('\n')[0];
