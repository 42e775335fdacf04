const { content } = await filesystem.read_text_file({ path: 'README.md' });
return content;
