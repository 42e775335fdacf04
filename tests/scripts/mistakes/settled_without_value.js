const files = await Promise.allSettled(['README.md', 'notes/ideas.txt'].map((path) => fs.read_text_file({ path })));
return files.map((file) => file.content);
