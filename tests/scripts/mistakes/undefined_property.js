const { content } = await fs.read_text_file({ path: 'data/users.json' });
const data = JSON.parse(content);
const admins = data.accounts.filter((user) => user.roles.includes('admin'));
return admins.map((user) => user.login);
