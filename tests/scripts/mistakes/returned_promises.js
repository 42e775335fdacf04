return {
  readme: fs.read_text_file({ path: 'README.md' }),
  guide: fs.read_text_file({ path: 'docs/guide.md' }),
};
