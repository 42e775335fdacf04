fs.read_text_file = async () => ({ content: 'mocked' });
return await fs.read_text_file({ path: 'README.md' });
