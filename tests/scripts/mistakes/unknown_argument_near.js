const { content } = await fs.read_text_file({ path: 'README.md', heads: 3 });
return content;
