const { content } = await fs.read_text_file({ path: 'data/orders.json' });
return Json.parse(content).length;
