async function main() {
  const { content } = await fs.read_text_file({ path: 'notes/ideas.txt' });
  return content.trim().split('\n').length;
}

const started = Date.now();
