enum Kind {
  Feature = 'feat',
  Fix = 'fix',
  Docs = 'docs',
}

const titles = { [Kind.Feature]: 'New', [Kind.Fix]: 'Fixed', [Kind.Docs]: 'Documented' } as const satisfies Record<Kind, string>;

const log = (await git.git_log({ repo_path: '.' })) as string;
const messages = Array.from(log.matchAll(/^Message: '(.+)'$/gm), (match) => match[1]);

let notes = '## 2.5.0\n';
for (const kind of [Kind.Feature, Kind.Fix, Kind.Docs]) {
  const own = messages.filter((message) => message.startsWith(`${kind}:`));
  if (own.length === 0) continue;
  notes += `\n### ${titles[kind]}\n\n`;
  for (const message of own) notes += `- ${message.slice(kind.length + 2).replace(/\(#(\d+)\)/, '([#$1](issues/$1))')}\n`;
}
return notes;
