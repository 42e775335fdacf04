const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function withRetry(action, { attempts = 3, delay = 5 } = {}) {
  let lastError;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      return await action(attempt);
    } catch (error) {
      lastError = error;
      console.warn(`attempt ${attempt} failed: ${error.message.split('\n')[0]}`);
      await sleep(delay * 2 ** attempt);
    }
  }
  throw lastError;
}

// The file is there from the third attempt on.
const text = await withRetry(async (attempt) => {
  if (attempt === 3) await fs.write_file({ path: 'late.txt', content: 'finally' });
  const { content } = await fs.read_multiple_files({ paths: ['late.txt'] });
  if (content.includes('Error')) throw new Error('not there yet');
  return content;
});
return text.trim().split('\n').pop();
