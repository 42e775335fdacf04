const { content } = await fs.read_text_file({ path: 'README.md });
return content.length;
