const { content } = await fs.search_files({ path: '.', pattern: '**/*.none' });
const sizes = content.split('\n').filter((path) => path.endsWith('.none')).map((path) => path.length);
return sizes.reduce((a, b) => Math.max(a, b));
