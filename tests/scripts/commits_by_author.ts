class Commit {
  constructor(
    public readonly hash: string,
    public readonly author: string,
    public readonly date: Date,
    public readonly message: string,
  ) {}

  get short(): string {
    return this.hash.slice(0, 7);
  }

  static parse(block: string): Commit {
    const field = (name: string): string => {
      const match = block.match(new RegExp(`^${name}: '?(.*?)'?$`, 'm'));
      if (!match) throw new Error(`no ${name} in ${block}`);
      return match[1];
    };
    return new Commit(field('Commit'), field('Author'), new Date(field('Date').replace(' ', 'T')), field('Message'));
  }
}

const log: string = await git.git_log({ repo_path: '.', max_count: 10 });
const commits = log.replace('Commit history:\n', '').trim().split('\n\n').map(Commit.parse);

const byAuthor = new Map<string, Commit[]>();
for (const commit of commits) {
  const list = byAuthor.get(commit.author) ?? [];
  list.push(commit);
  byAuthor.set(commit.author, list);
}
return [...byAuthor].map(([author, list]) => ({ author, count: list.length, latest: `${list[0].short} ${list[0].message}`, day: list[0].date.toISOString().slice(0, 10) }));
