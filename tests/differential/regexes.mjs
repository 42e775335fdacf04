// Regular expressions of random structure, on texts that they find something in.

export function regex(random) {
  const groups = { count: 0, names: [] };
  const flags = ["g", ...["i", "m", "s", "u", "y", "d"].filter(() => random.chance(20))].slice(random.chance(25) ? 1 : 0).join("");
  const unicode = flags.includes("u");
  const source = alternatives(random, 2, groups, unicode).replace(/\/(?!\\)/g, "\\/");
  const text = random.list(2, 5, () => random.of(["abc", "aab", "a1b22", "x-y_z", "Foo Bar", "2024-05-06", "key=value;", "\n", "é😀", "ABBA", "  ", "\"q\"", "aaa", "1,000.5", "foo.bar()", "\t", "ab\nAB"])).join(random.of(["", " ", ","]));
  const named = groups.names[0];
  const uses = random.shuffled([
    "s.match(r)", "s.replace(r, \"[$&]\")", "s.replace(r, (...m) => \"<\" + m.slice(0, 3).join(\"|\") + \">\")", "s.split(r)", "s.search(r)", "r.test(s) + \" \" + r.lastIndex", "r.exec(s)?.slice()", "r.exec(s)?.index ?? \"none\"",
    "r.flags + \" \" + String(r).length", "s.replace(r, \"$1-$2\")", "s.split(r, 2)", "(r.lastIndex = 2, r.test(s))",
    ...(flags.includes("g") ? ["[...s.matchAll(r)].map((m) => [m.index, ...m])", "s.replaceAll(r, \"$`\").length", "(() => { const all = []; for (let m, n = 0; n++ < 5 && (m = r.exec(s)); ) { all.push(m[0], r.lastIndex); if (m[0] === \"\") r.lastIndex++; } return all; })()"] : []),
    ...(named ? [`s.match(r)?.groups?.${named} ?? "none"`, `s.replace(r, "{$<${named}>}")`] : []), ...(flags.includes("d") ? ["r.exec(s)?.indices ?? 0"] : []),
  ]).slice(0, 4);
  const made = random.chance(20) ? `new RegExp(${JSON.stringify(source)}, "${flags}")` : `/${source || "(?:)"}/${flags}`;
  return `const r = ${made}, s = ${JSON.stringify(text)};\nreturn [${uses.join(", ")}];`;
}

function alternatives(random, depth, groups, unicode) {
  return random.list(1, random.chance(30) ? 3 : 1, () => sequence(random, depth, groups, unicode)).join("|");
}

function sequence(random, depth, groups, unicode) {
  const parts = random.list(1, 3, () => {
    const [text, quantifiable] = atom(random, depth, groups, unicode);
    return quantifiable && random.chance(40) ? text + random.of(["*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "??"]) : text;
  });
  return `${random.chance(10) ? random.of(["^", "\\b"]) : ""}${parts.join("")}${random.chance(10) ? random.of(["$", "\\b", "\\B"]) : ""}`;
}

function atom(random, depth, groups, unicode) {
  if (depth <= 0 || random.chance(55)) {
    return [random.of(["a", "b", "\\d", "\\w", "\\s", ".", "[a-c]", "[^a-z]", "[\\d_-]", "x", "-", "\\W", "[A-Z]", "\\.", "o", "[^,;]", "é", unicode ? "\\p{L}" : "[\\w.]", unicode ? "\\u{1F600}" : "\\x41", unicode ? "\\p{Lu}" : "[^]"]), true];
  }
  const inner = () => alternatives(random, depth - 1, groups, unicode);
  switch (random.below(7)) {
    case 0: case 1: groups.count++; return [`(${inner()})`, true];
    case 2: return [`(?:${inner()})`, true];
    case 3: { const name = `n${groups.names.length}`; groups.names.push(name); groups.count++; return [`(?<${name}>${inner()})`, true]; }
    case 4: return [`(?${random.of(["=", "!"])}${inner()})`, false];
    case 5: return [`(?<${random.of(["=", "!"])}${inner()})`, false];
    default: return groups.count ? [`\\${random.integer(1, groups.count)}`, true] : ["ab", false];
  }
}
