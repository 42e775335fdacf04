const paths = ['package.json', 'nope.json', 'data/users.json', '../../etc/passwd'];
const settled = await Promise.allSettled(paths.map((path) => fs.read_text_file({ path })));
return settled.map((result, i) =>
  result.status === 'fulfilled'
    ? `${paths[i]}: ${JSON.parse(result.value.content) ? 'JSON' : ''}`
    : `${paths[i]}: ${result.reason.message.startsWith('Access denied') ? 'denied' : 'missing'}`,
);
