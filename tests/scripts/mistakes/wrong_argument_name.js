const { content } = await fs.read_text_file({ file_path: 'README.md' });
return content;
