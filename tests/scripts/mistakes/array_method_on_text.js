const { content } = await fs.list_directory({ path: 'notes' });
return content.map((entry) => entry.name);
