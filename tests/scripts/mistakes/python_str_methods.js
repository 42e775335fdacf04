const { content } = await fs.read_text_file({ path: 'data/sales.csv' });
const rows = content.strip().split('\n');
return rows.length;
