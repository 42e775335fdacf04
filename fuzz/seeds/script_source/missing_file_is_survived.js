const wanted = ['README.md', 'CHANGES.md', 'LICENCE'];
const results = [];
for (const path of wanted) {
  try {
    const { content } = await fs.read_text_file({ path });
    results.push({ path, ok: true, title: content.split('\n')[0] });
  } catch (error) {
    results.push({ path, ok: false, tool: error.tool, isToolError: error instanceof ToolError, code: /ENOENT/.test(error.message) ? 'ENOENT' : 'other' });
  }
}
results
