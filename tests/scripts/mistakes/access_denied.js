return (await fs.read_text_file({ path: '/etc/passwd' })).content;
