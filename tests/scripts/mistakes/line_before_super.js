class Base {
  constructor(options) {
    this.name = options.name;
  }
}
class Report extends Base {
  constructor(options) {
    super(options);
    this.title = options.title.trim();
  }
}
return new Report({ name: 'march' });
