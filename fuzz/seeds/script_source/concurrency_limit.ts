async function mapLimit<T, R>(items: T[], limit: number, worker: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0, running = 0, most = 0;
  const run = async () => {
    while (next < items.length) {
      const index = next++;
      most = Math.max(most, ++running);
      results[index] = await worker(items[index]);
      running--;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
  console.log(`at most ${most} at once`);
  return results;
}

const words = ['ebb', 'flow', 'neap', 'spring', 'slack'];
return await mapLimit(words, 2, (message) => everything.echo({ message }));
