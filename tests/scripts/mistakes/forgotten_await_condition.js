if (!fs.get_file_info({ path: 'notes.md' })) {
  return 'missing';
}
return 'there';
