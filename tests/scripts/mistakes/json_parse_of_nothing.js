const file = await fs.read_text_file({ path: 'package.json' });
return JSON.parse(file.text).name;
