const text = await fs.readFile({ path: 'README.md' });
return text;
