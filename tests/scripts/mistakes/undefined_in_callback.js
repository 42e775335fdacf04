const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
return orders.map((order) => order.customer.name.toUpperCase());
