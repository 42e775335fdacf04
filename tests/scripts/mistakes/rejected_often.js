const reads = [1, 2, 3, 4].map(() => fs.read_text_file({ path: 'config/absent.json' }));
await new Promise((resolve) => setTimeout(resolve, 500));
const texts = [];
for (const read of reads) {
  texts.push((await read).content);
}
return texts;
