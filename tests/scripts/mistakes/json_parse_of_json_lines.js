await fs.write_file({ path: 'events.jsonl', content: '{"id": 1}\n{"id": 2}\n' });
const { content } = await fs.read_text_file({ path: 'events.jsonl' });
const events = JSON.parse(content);
return events.length;
