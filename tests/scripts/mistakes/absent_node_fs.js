const files = await fs.readdirSync('notes');
return files;
