const orders = await fs.read_text_file({ path: 'data/orders.json' });
return orders.content.map((order) => order.id);
