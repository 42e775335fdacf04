class Notes {
  folder = 'notes';
  read(name) {
    return fs.read_text_file({ path: `${this.folder}/${name}` });
  }
}
const { read } = new Notes();
return await read('ideas.txt');
