type Entry = { ip: string; method: string; path: string; status: number; bytes: number };

const pattern = /^(?<ip>\S+) .*? "(?<method>\w+) (?<path>\S+) [^"]*" (?<status>\d{3}) (?<bytes>\d+)$/;
const { content } = await fs.read_text_file({ path: 'logs/access.log' });

const entries: Entry[] = content
  .split('\n')
  .map((line) => pattern.exec(line)?.groups)
  .filter((groups): groups is Record<string, string> => groups !== undefined)
  .map((groups) => ({
    ip: groups.ip,
    method: groups.method,
    path: groups.path,
    status: Number(groups.status),
    bytes: parseInt(groups.bytes, 10),
  }));

const failed = entries.filter((entry) => entry.status >= 400);
return {
  requests: entries.length,
  bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
  failed: failed.map(({ method, path, status }) => `${status} ${method} ${path}`),
  ips: [...new Set(entries.map((entry) => entry.ip))].sort(),
};
