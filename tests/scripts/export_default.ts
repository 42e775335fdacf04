export default async function main(): Promise<string[]> {
  const report = await summarise(['notes/ideas.txt']);
  return report;
}

async function summarise(paths: string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const path of paths) {
    const { content } = await fs.read_text_file({ path });
    for (const idea of content.trim().split('\n')) lines.push(idea.replace(/^a /, '').toUpperCase());
  }
  return lines;
}
