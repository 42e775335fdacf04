const file = fs.read_text_file({ path: 'data/users.json' });
const users = JSON.parse(file);
return users.length;
