try {
  await fs.read_text_file({ path: 'config/absent.json' });
} catch (error) {
  throw new Error('cannot load the configuration', { cause: error });
}
