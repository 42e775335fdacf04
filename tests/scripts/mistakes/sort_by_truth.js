const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
return orders.sort((a, b) => a.id < b.id).map((order) => order.id);
