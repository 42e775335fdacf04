await fs.write_file({ path: 'rows.txt', content: "[{'customer': 'c1', 'total': 12.5, 'paid': True}, {'customer': 'it\\'s', 'total': 3, 'paid': None}, ('x', 1)]" });
const { content } = await fs.read_text_file({ path: 'rows.txt' });
const rows = tools.parse(content);
return { unpaid: rows.filter((row) => row.paid === null).map((row) => row.customer), tuple: rows[2] };
