function logged(target: unknown, key: string) {}
class Loader {
  @logged
  load(path: string) { return fs.read_text_file({ path }); }
}
return await new Loader().load('README.md');
