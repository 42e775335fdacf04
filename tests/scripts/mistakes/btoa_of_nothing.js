const file = await fs.read_text_file({ path: 'notes/ideas.txt' });
return btoa(file.text);
