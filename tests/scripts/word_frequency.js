const { content: listing } = await fs.search_files({ path: '.', pattern: '**/*.md' });
const texts = await Promise.all(listing.split('\n').map(async (path) => (await fs.read_text_file({ path })).content));
const counts = new Map();
for (const word of texts.join('\n').toLowerCase().match(/\p{L}{4,}/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
return [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).slice(0, 5);
