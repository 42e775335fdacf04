const { content } = await fs.read_text_file({ path: 'README.md' });
return f"the file has {content.length} characters";
