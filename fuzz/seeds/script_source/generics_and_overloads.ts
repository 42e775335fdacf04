namespace Cache {
  const store = new Map<string, unknown>();
  let misses = 0;
  export const missed = () => misses;
  export async function get<T>(key: string, make: () => Promise<T>): Promise<T> {
    if (!store.has(key)) {
      misses++;
      store.set(key, await make());
    }
    return store.get(key) as T;
  }
}

function format(value: number): string;
function format(value: Date): string;
function format(value: number | Date): string {
  return typeof value === 'number' ? value.toFixed(1) : value.toISOString();
}

const first = await Cache.get('readme', () => fs.read_text_file({ path: 'README.md' }));
const again = await Cache.get('readme', () => fs.read_text_file({ path: 'README.md' }));
return { same: first === again, misses: Cache.missed(), texts: [format(3), format(new Date(0))] };
