const { content } = await fs.read_text_file({ path: 'logs/app.log', tail: '5' });
return content;
