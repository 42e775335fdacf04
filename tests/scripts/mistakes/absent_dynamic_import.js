const { readFile } = await import('node:fs/promises');
return await readFile('README.md', 'utf8');
