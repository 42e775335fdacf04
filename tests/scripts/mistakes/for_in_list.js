const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const customers = {};
for (const order in orders) {
  customers[order.customer] = (customers[order.customer] ?? 0) + 1;
}
return customers;
