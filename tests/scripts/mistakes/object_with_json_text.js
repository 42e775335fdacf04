const orders = await fs.read_text_file({ path: 'data/orders.json' });
return orders.filter((order) => order.customer === 'ada');
