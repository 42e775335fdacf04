if (fs.get_file_info({ path: 'README.md' }).content === '') {
  await fs.write_file({ path: 'README.md', content: 'new' });
}
return 'done';
