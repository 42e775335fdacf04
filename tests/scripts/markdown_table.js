const orders = JSON.parse((await fs.read_text_file({ path: 'data/orders.json' })).content);
const columns = ['id', 'customer', 'status', 'total'];
const widths = columns.map((column) => Math.max(column.length, ...orders.map((order) => String(order[column]).length)));
const row = (cells) => `| ${cells.map((cell, i) => String(cell).padEnd(widths[i])).join(' | ')} |`;
return [row(columns), row(widths.map((width) => '-'.repeat(width))), ...orders.map((order) => row(columns.map((c) => order[c])))].join('\n');
