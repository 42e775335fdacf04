const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const months = {};
for (const { placed, total } of orders) {
  const date = new Date(placed);
  const key = `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
  months[key] = Math.round(((months[key] ?? 0) + total) * 100) / 100;
}
const days = orders.map((order) => ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][new Date(order.placed).getDay()]);
const gap = (new Date(orders.at(-1).placed) - new Date(orders[0].placed)) / 86_400_000;
return { months, days, gapInDays: Math.floor(gap), next: new Date(Date.UTC(2026, 3, 30 + 2)) };
