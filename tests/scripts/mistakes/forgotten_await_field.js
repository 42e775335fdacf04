const file = fs.read_text_file({ path: 'notes/ideas.txt' });
return file.content;
