const rows = [['name', 'height'], ['Brest', 4.2], ['Dover', 5.8]];
const csv = rows.map((row) => row.join(',')).join('\n');
await fs.create_directory({ path: 'out' });
await fs.write_file({ path: 'out/heights.csv', content: csv + '\n' });
const { content } = await fs.read_text_file({ path: 'out/heights.csv', head: 2 });
return content.split('\n').map((line) => line.split(','));
