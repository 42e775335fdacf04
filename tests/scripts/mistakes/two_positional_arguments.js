await fs.write_file('notes/new.md', '# New');
return 'written';
