const paths = ['notes/ideas.txt', 'notes/monday.md'];
return paths.some(async (path) => (await fs.read_text_file({ path })).content.includes('tram'));
