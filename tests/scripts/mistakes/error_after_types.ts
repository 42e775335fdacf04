interface Order {
  id: number;
  customer: string;
  total: number;
}
type Totals = {
  [customer: string]: number;
};
const { content } = await fs.read_text_file({ path: 'data/orders.json' });
const orders = JSON.parse(content) as { orders: Order[] };
const totals = orders.orders.reduce<Totals>((sum, { customer, total }) => ({ ...sum, [customer]: (sum[customer] ?? 0) + total }), {});
return totals;
