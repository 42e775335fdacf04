const paths = ['README.md', 'docs/guide.md'];
const titles = paths.map(async (path) => (await fs.read_text_file({ path })).content.split('\n')[0]);
return titles;
