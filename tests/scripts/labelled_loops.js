const { content } = await fs.read_text_file({ path: 'logs/app.log' });
const lines = content.trim().split('\n');
let pair = null;
outer: for (let i = 0; i < lines.length; i++) {
  for (let j = i + 1; j < lines.length; j++) {
    const [a, b] = [lines[i].slice(21), lines[j].slice(21)];
    if (a.startsWith('ERROR') && a === b) {
      pair = [i + 1, j + 1];
      break outer;
    }
  }
}
switch (true) {
  case pair === null:
    return 'no error repeats itself';
  default:
    return `lines ${pair.join(' and ')} are the same error`;
}
