const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const open = orders.filter((order) => order.status === 'pending';
return open;
