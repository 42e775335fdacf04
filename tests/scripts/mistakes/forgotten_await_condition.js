if (!fs.get_file_info({ path: 'README.md' })) {
  return 'missing';
}
return 'there';
