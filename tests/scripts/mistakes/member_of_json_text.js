const manifest = await fs.read_text_file({ path: 'package.json' });
return manifest.scripts.test;
