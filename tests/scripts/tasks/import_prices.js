// Import docs/prices.csv into a new table prices of the library's database, and give the three most expensive.
const { content } = await fs.read_text_file({ path: "/world/docs/prices.csv" });
const rows = [];
for (const line of content.trim().split(/\r?\n/)) {
  const cells = []; let cur = "", q = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (q && c === '"' && line[i + 1] === '"') { cur += '"'; i++; }
    else if (c === '"') q = !q;
    else if (c === "," && !q) { cells.push(cur); cur = ""; }
    else cur += c;
  }
  cells.push(cur); rows.push(cells);
}
const [header, ...data] = rows;
const numeric = header.map((_, i) => data.every(r => r[i] !== "" && !isNaN(Number(r[i]))));
const cols = header.map((h, i) => `"${h}" ${numeric[i] ? "REAL" : "TEXT"}`).join(", ");
await sqlite.create_table({ query: `CREATE TABLE prices (${cols})` });
const value = (v, i) => numeric[i] ? Number(v) : `'${v.replaceAll("'", "''")}'`;
await sqlite.write_query({ query: `INSERT INTO prices VALUES ${data.map(r => `(${r.map(value).join(", ")})`).join(", ")}` });
const price = header.find((h, i) => numeric[i] && /price|eur|usd|cost|amount/i.test(h)) ?? header.find((_, i) => numeric[i]);
return await sqlite.read_query({ query: `SELECT * FROM prices ORDER BY "${price}" DESC LIMIT 3` });
