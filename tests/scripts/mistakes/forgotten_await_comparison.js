const text = fs.read_text_file({ path: 'notes.md' });
if (text === '') {
  return 'empty';
}
return (await fs.list_directory({ path: '.' })) && 'not empty';
