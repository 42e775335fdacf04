const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
return orders.reduce((groups, order) => {
  (groups[order.customer] ??= []).push(order.id);
}, {});
