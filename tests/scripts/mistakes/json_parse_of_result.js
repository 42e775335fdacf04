const result = await fs.read_text_file({ path: 'data/orders.json' });
const orders = JSON.parse(result);
return orders.length;
