const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt'];
return await Promise.all(names.map(() => fs.read_text_file({ path: '/workspace/notes.txt' })));
