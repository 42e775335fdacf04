// What git, mail, logs, spreadsheets and people write, in one order.
const written = {
  git: 'Mon Jan 15 10:30:00 2024 +0100',
  iso: '2024-01-15T09:31:00.123456Z',
  mail: 'Mon, 15 Jan 2024 09:32:00 -0500 (EST)',
  log: '2024-01-15 09:33:00,250',
  sql: '2024-01-15 09:34:00',
  person: 'Jan 15, 2024 9:35 PM',
  sheet: '1/15/2024 9:36 AM',
  nobody: 'in a while',
};
const read = Object.entries(written).map(([by, text]) => ({ by, at: new Date(text) }));
const known = read.filter(({ at }) => !Number.isNaN(at.getTime())).sort((a, b) => a.at - b.at);
return {
  order: known.map(({ by, at }) => `${by} ${at.toISOString()}`),
  unknown: read.filter(({ at }) => Number.isNaN(at.getTime())).map(({ by }) => by),
};
