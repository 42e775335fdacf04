const seen = [];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function collect(path) {
  await sleep(20);
  seen.push(await fs.read_text_file({ path }));
}

collect('notes/ideas.txt');
return seen;
