const { content } = await fs.read_text_file({ path: 'package.json' });
if (!content.includes('harbor')) {
  throw 'no harbor in package.json';
}
