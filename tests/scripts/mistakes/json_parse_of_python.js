await fs.write_file({ path: 'rows.txt', content: "[{'customer': 'c1', 'paid': True}, {'customer': 'c2', 'paid': None}]" });
const { content } = await fs.read_text_file({ path: 'rows.txt' });
return JSON.parse(content).map((row) => row.customer);
