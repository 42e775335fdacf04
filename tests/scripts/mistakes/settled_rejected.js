const paths = ['config/absent.json'];
const files = await Promise.allSettled(paths.map((path) => fs.read_text_file({ path })));
return files.map((file) => file.value.content.length);
