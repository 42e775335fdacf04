interface User { login: string; name: string; email: string | null; roles: string[]; active: boolean }

const file = await fs.read_text_file({ path: 'data/users.json' });
const { users }: { users: User[] } = JSON.parse(file.content);

const entities = users
  .filter((user): user is User & { email: string } => user.active && user.email != null)
  .map(({ login, email, roles }) => ({ name: login, entityType: 'user', observations: [`mail: ${email}`, ...roles.map((role) => `role: ${role}`)] }));

const created = await memory.create_entities({ entities });
const editors = await memory.search_nodes({ query: 'role: editor' });
return { created: created.entities.length, editors: editors.entities.map(({ name }) => name) };
