const lines = (await fs.read_text_file({ path: 'notes/ideas.txt' })).content.trim().split('\n');
return lines[-1].toUpperCase();
