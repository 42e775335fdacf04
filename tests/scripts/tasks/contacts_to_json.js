// Turn docs/contacts.csv into docs/contacts.json: an array of objects sorted by last name. How many are there?
const dir = "/world/docs";
const { content } = await fs.read_text_file({ path: `${dir}/contacts.csv` });
function parse(line, sep) {
  const out = []; let cur = "", q = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (q) { if (c === '"') { if (line[i + 1] === '"') { cur += '"'; i++; } else q = false; } else cur += c; }
    else if (c === '"') q = true;
    else if (c === sep) { out.push(cur); cur = ""; }
    else cur += c;
  }
  out.push(cur); return out;
}
const lines = content.split(/\r?\n/).filter(Boolean);
const sep = lines[0].includes(";") ? ";" : lines[0].includes("\t") ? "\t" : ",";
const header = parse(lines[0], sep);
const rows = lines.slice(1).map(l => Object.fromEntries(parse(l, sep).map((v, i) => [header[i], v])));
const last = header.find(h => /last|surname|family/i.test(h));
const key = r => last ? r[last] : (r[header.find(h => /name/i.test(h)) ?? header[0]] ?? "").split(" ").at(-1);
rows.sort((a, b) => key(a).localeCompare(key(b)));
await fs.write_file({ path: `${dir}/contacts.json`, content: JSON.stringify(rows, null, 2) });
return { count: rows.length, header, first: rows[0], last: rows.at(-1) };
