const text = fs.read_text_file({ path: 'README.md' });
if (text === '') {
  return 'empty';
}
return 'not empty';
