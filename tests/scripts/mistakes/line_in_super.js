class Base {
  constructor(options) {
    this.name = options.name.trim();
  }
}
class Report extends Base {
  constructor(options) {
    super(options);
  }
}
return new Report({ title: 'march' });
