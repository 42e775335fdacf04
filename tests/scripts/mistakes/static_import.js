import { readFile } from 'fs/promises';
const text = await readFile('README.md', 'utf8');
return text;
