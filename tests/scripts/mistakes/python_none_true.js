const { content } = await fs.read_text_file({ path: 'README.md' });
const title = content ? content.split('\n')[0] : None;
return { title, ok: True };
