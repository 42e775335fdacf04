const csv = 'name,note\nAda,"first, ""and"" last"\nGrace,\n';
const page = '---\ntitle: Notes\ntags: [a, b]\nyear: 1843\n---\n# Notes\n';
const lines = '{"id": 1}\n{"id": 9007199254740993}\n';
return { table: tools.parse(csv), page: tools.parse(page), lines: tools.parse(lines) };
