// Which relative links of the documents lead nowhere?
const documents = ['README.md', 'docs/guide.md', 'docs/faq.md'];
const exists = async (path) => fs.get_file_info({ path }).then(() => true, () => false);
const broken = [];
await Promise.all(documents.map(async (document) => {
  const { content } = await fs.read_text_file({ path: document });
  const folder = document.includes('/') ? document.slice(0, document.lastIndexOf('/') + 1) : '';
  for (const [, label, target] of content.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
    if (/^https?:/.test(target)) continue;
    if (!(await exists(folder + target))) broken.push({ document, label, target });
  }
}));
return broken;
