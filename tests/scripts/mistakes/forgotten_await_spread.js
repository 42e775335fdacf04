const notes = ['monday', ...fs.search_files({ path: 'notes', pattern: '*.md' })];
return notes;
