const folder = process.env.PROJECT ?? process.cwd();
return await fs.list_directory({ path: folder });
