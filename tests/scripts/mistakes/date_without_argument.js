const order = { id: 1 };
return new Date(order.createdAt).toISOString();
