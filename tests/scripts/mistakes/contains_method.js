const { content } = await fs.read_text_file({ path: 'notes/ideas.txt' });
return content.contains('tram');
