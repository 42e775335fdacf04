const { content: log } = await fs.read_text_file({ path: 'logs/app.log' });
const counts = {};
const errors = [];
for (const line of log.trim().split('\n')) {
  const [, time, level, message] = line.match(/^(\S+)\s+(\w+)\s+(.*)$/);
  counts[level] = (counts[level] || 0) + 1;
  if (level === 'ERROR') errors.push({ time, message });
}
const first = new Date(errors[0].time);
const last = new Date(errors.at(-1).time);
return `Log report
==========
${Object.entries(counts).map(([level, n]) => `${level.padEnd(6)} ${String(n).padStart(3)}`).join('\n')}

${errors.length} errors within ${(last - first) / 1000} s:
${errors.map((e) => `- ${e.message}`).join('\n')}`;
