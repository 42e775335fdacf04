type User = { login: string; name: string };
type Order = { customer: string; items: string[]; total: number };

const read = async <T>(path: string): Promise<T> => JSON.parse((await fs.read_text_file({ path })).content) as T;
const [{ users }, orders] = await Promise.all([read<{ users: User[] }>('data/users.json'), read<Order[]>('data/orders.json')]);

const names = new Map(users.map(({ login, name }) => [login, name] as const));
return orders.map(({ customer, items, total }) => `${names.get(customer) ?? 'unknown'} bought ${items.length > 1 ? `${items.length} things` : items[0]} for ${total.toFixed(2)}`);
