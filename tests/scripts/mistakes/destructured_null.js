const users = JSON.parse((await fs.read_text_file({ path: 'data/users.json' })).content).users;
const linus = users.find((user) => user.login === 'linus');
const { domain } = linus.email;
return domain;
