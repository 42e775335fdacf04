let total = 0;
for (let i = 1; i <= 5; i++) {
  const text = await everything.get_sum({ a: total, b: i });
  total = Number(text.match(/is (-?\d+)/)[1]);
}
total
