const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const byStatus = Object.groupBy(orders, ({ status }) => status);
return Object.fromEntries(Object.entries(byStatus).map(([status, list]) => [status, list.map((order) => order.id)]));
