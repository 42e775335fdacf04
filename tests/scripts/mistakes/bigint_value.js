const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
return { count: BigInt(orders.length), first: orders[0].id };
