// Numbers that are the same every time.

export class Random {
  constructor(seed) {
    this.state = 2166136261;
    for (const character of seed) this.state = Math.imul(this.state ^ character.charCodeAt(0), 16777619);
  }

  // Below `limit`, whole.
  below(limit) {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
  }

  of(list) {
    return list[this.below(list.length)];
  }

  chance(percent) {
    return this.below(100) < percent;
  }

  integer(from, to) {
    return from + this.below(to - from + 1);
  }

  // A list of `from` to `to` of what `make` makes.
  list(from, to, make) {
    return Array.from({ length: this.integer(from, to) }, (_, index) => make(index));
  }

  shuffled(list) {
    const rest = [...list];
    return list.map(() => rest.splice(this.below(rest.length), 1)[0]);
  }

  word() {
    return this.of([
      "alpha", "Beta", "gamma", "delta", "naïve", "straße", "日本語", "x", "", "hello world", "a-b_c", "😀 ok", "CamelCase",
      "tab\tbed", "line\nbreak", "UPPER", "0x1F", "3.14", "-7", "  padded  ", "quote\"d", "back\\slash", "é", "ǆ", "I",
    ]);
  }

  // A number as source.
  number() {
    return this.of([
      "0", "-0", "1", "2", "3", "7", "10", "-1", "-5", "42", "100", "255", "0.5", "1.5", "-2.25", "3.75", "1e3", "1e21", "1e-7",
      "2147483647", "-2147483648", "4294967295", "9007199254740991", "NaN", "Infinity", "-Infinity", "0.1", "123456.789",
    ]);
  }

  // A value as source.
  value(depth = 2) {
    switch (this.below(depth > 0 ? 9 : 6)) {
      case 0: return this.number();
      case 1: return JSON.stringify(this.word());
      case 2: return this.of(["true", "false"]);
      case 3: return this.of(["null", "undefined"]);
      case 4: return String(this.integer(-50, 50));
      case 5: return JSON.stringify(this.word());
      case 6: return `[${this.list(0, 4, () => this.value(depth - 1)).join(", ")}]`;
      default: return `({ ${this.list(0, 4, () => `${this.of(["a", "b", "c", "id", "'x y'", "1", "0"])}: ${this.value(depth - 1)}`).join(", ")} })`;
    }
  }
}
