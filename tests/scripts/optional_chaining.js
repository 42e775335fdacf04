const { users } = JSON.parse((await fs.read_text_file({ path: 'data/users.json' })).content);
return users.map((user) => ({
  domain: user.email?.split('@')[1]?.toUpperCase() ?? 'none',
  firstRole: user.roles?.[0] ?? 'guest',
  nick: user.profile?.nick?.trim?.() || user.login,
}));
