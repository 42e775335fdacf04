const { content } = await fs.read_text_file('README.md');
return content;
