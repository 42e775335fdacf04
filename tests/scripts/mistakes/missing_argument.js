await fs.write_file({ path: 'notes/new.md' });
