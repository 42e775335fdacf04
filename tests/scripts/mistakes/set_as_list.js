const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const customers = new Set(orders.map((order) => order.customer));
return customers.map((customer) => customer.toUpperCase());
