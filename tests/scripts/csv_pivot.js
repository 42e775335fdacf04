// A small CSV parser that knows quotes, and a pivot by month and region.
function parseCsv(text) {
  const rows = [];
  for (const line of text.trim().split('\n')) {
    const cells = [];
    let cell = '', quoted = false;
    for (const char of line) {
      if (char === '"') quoted = !quoted;
      else if (char === ',' && !quoted) { cells.push(cell); cell = ''; }
      else cell += char;
    }
    cells.push(cell);
    rows.push(cells);
  }
  const [header, ...body] = rows;
  return body.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i]])));
}

const sales = parseCsv((await fs.read_text_file({ path: 'data/sales.csv' })).content);
const pivot = new Map();
for (const { month, region, amount } of sales) {
  if (!pivot.has(month)) pivot.set(month, {});
  pivot.get(month)[region] = Number(amount.replace(',', ''));
}
return pivot;
