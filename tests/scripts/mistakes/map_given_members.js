const counts = new Map();
for (const order of JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content)) {
  counts[order.customer] = (counts[order.customer] ?? 0) + 1;
}
return counts;
