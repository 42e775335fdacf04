const { content } = await fs.read_text_file({ path: 'docs/faq.md' });
const links = content.match(/https?:\/\/[^\s)]+/g).map((link) => new URL(link));
const query = new URLSearchParams({ q: 'tide tables', page: '2' });
return links.map((url) => ({ host: url.hostname, parts: url.pathname.split('/').filter(Boolean), search: `${url.origin}/?${query}` }));
