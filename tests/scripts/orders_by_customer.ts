interface Order {
  id: number;
  customer: string;
  status: 'shipped' | 'pending' | 'cancelled';
  total: number;
  items: string[];
  placed: string;
}

const { content } = await fs.read_text_file({ path: 'data/orders.json' });
const orders: Order[] = JSON.parse(content);

const byCustomer = orders
  .filter((order) => order.status !== 'cancelled')
  .reduce<Record<string, { orders: number; total: number }>>((groups, order) => {
    const group = (groups[order.customer] ??= { orders: 0, total: 0 });
    group.orders += 1;
    group.total += order.total;
    return groups;
  }, {});

Object.entries(byCustomer)
  .map(([customer, { orders, total }]) => ({ customer, orders, total }))
  .sort((a, b) => b.total - a.total);
