// Programs that make values of each other, step by step: each area begins with values of its own and goes where the operations lead.
// An operation is [source, kind of what it makes], where $ is the value that it is done with, and #n, #s stand for a number and a text.

const OPERATIONS = {
  text: [
    ["$.toUpperCase()", "text"], ["$.toLowerCase()", "text"], ["$.trim()", "text"], ["$.trimStart() + '|'", "text"], ["$.slice(#n)", "text"], ["$.slice(#n, -1)", "text"], ["$.substring(#n, 2)", "text"],
    ["$.at(#n) ?? 'none'", "text"], ["$.charAt(#n)", "text"], ["$.charCodeAt(#n)", "number"], ["$.codePointAt(0) ?? -1", "number"], ["$.padStart(#w, #s)", "text"], ["$.padEnd(#w, '.')", "text"], ["$.repeat(#c)", "text"],
    ["$.split('')", "texts"], ["$.split(#s)", "texts"], ["$.split(' ', 2)", "texts"], ["[...$]", "texts"], ["$.split(/\\s+/)", "texts"], ["$.split(/([,;\\s])/)", "texts"], ["$.indexOf(#s)", "number"], ["$.lastIndexOf(#s)", "number"],
    ["$.includes(#s, 1)", "flag"], ["$.startsWith(#s)", "flag"], ["$.endsWith(#s)", "flag"], ["$.replace(#s, '<$&>')", "text"], ["$.replaceAll('a', (m, at) => m + at)", "text"], ["$.replaceAll(' ', '$$')", "text"],
    ["$.replace(/\\b\\w/g, (c) => c.toUpperCase())", "text"], ["$.replace(/([A-Z])/g, '_$1').toLowerCase()", "text"], ["$.replace(/[^\\p{L}\\p{N}]+/gu, '-')", "text"], ["$.replace(/(\\w+) (\\w+)/, '$2 $1')", "text"],
    ["$.normalize('NFD').replace(/[\\u0300-\\u036f]/g, '')", "text"], ["$.normalize('NFKC')", "text"], ["$.length", "number"], ["encodeURIComponent($)", "text"], ["encodeURI($)", "text"], ["escape($)", "text"], ["JSON.stringify($)", "text"],
    ["$.localeCompare(#s)", "number"], ["[...$].reverse().join('')", "text"], ["$.search(/[aeiou]/i)", "number"], ["$.match(/\\d+/g) ?? []", "texts"], ["$.match(/(?<first>\\w)(?<rest>\\w*)/)?.groups?.rest ?? 'none'", "text"],
    ["[...$.matchAll(/[a-z]+/gi)].map((m) => m.index + m[0])", "texts"], ["Array.from($, (c) => c.charCodeAt(0))", "numbers"], ["Object.entries($).flat()", "texts"], ["$.concat(#s, 1, null)", "text"], ["Number($)", "number"], ["parseInt($, 16)", "number"],
    ["parseFloat($)", "number"], ["$ < #s", "flag"], ["$.isWellFormed()", "flag"], ["new Set($)", "set"], ["new TextEncoder().encode($)", "bytes"], ["btoa(unescape(encodeURIComponent($)))", "text"], ["`${$}${$.length}`", "text"],
    ["$.split(/(?=[A-Z])/)", "texts"], ["$.replace(/./gsu, (c) => c.codePointAt(0).toString(16) + ' ')", "text"], ["String.raw`${$}\\n`", "text"], ["$.codePointAt($.length - 1)?.toString(2) ?? ''", "text"],
    ["$.replace(/^(.)(.*)$/s, (all, a, b, at, whole) => b + a + at + (whole === $))", "text"], ["$.split(/,|;/).map((part) => part.trim()).filter(Boolean)", "texts"], ["$.replace(/(?<=a)b|c(?!d)/g, '*')", "text"],
  ],
  texts: [
    ["$.map((s) => s.length)", "numbers"], ["$.join('-')", "text"], ["$.join()", "text"], ["[...$].sort()", "texts"], ["[...$].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))", "texts"], ["[...$].sort((a, b) => a.localeCompare(b))", "texts"],
    ["$.toReversed()", "texts"], ["$.filter((s) => s.length > #c)", "texts"], ["$.filter((s, i, all) => all.indexOf(s) === i)", "texts"], ["new Map($.map((s, i) => [s, i]))", "map"], ["new Set($)", "set"], ["$.flatMap((s) => s.split(''))", "texts"],
    ["$.reduce((o, s) => ({ ...o, [s]: (o[s] ?? 0) + 1 }), {})", "object"], ["Object.fromEntries($.entries())", "object"], ["$.slice(#n)", "texts"], ["$.concat(#s, [['x']]).flat(Infinity)", "texts"], ["$.findLast((s) => /a/.test(s)) ?? 'none'", "text"],
    ["$.some((s) => s === #s)", "flag"], ["$.every((s) => typeof s === 'string')", "flag"], ["$.includes(#s)", "flag"], ["$.with(0, #s)", "texts"], ["$.map((s) => ({ key: s, size: s.length }))", "rows"], ["$.map(Number)", "numbers"], ["$.map(parseInt)", "numbers"],
    ["$.reduceRight((t, s) => t + s.at(0), '')", "text"], ["$.at(-1) ?? ''", "text"], ["$.toSpliced(1, 1, 'new', 'er')", "texts"], ["$.fill('f', #n)", "texts"], ["$.copyWithin(0, 1)", "texts"], ["$.push('pushed')", "number"], ["$.unshift('first', 'second')", "number"],
    ["$.splice(#n, #c)", "texts"], ["$.shift() ?? 'empty'", "text"], ["$.lastIndexOf(#s)", "number"], ["[...$.keys()]", "numbers"], ["JSON.parse(JSON.stringify($))", "texts"], ["structuredClone($)", "texts"], ["$.toString()", "text"],
    ["$.reduce((m, s) => m.set(s.length, [...(m.get(s.length) ?? []), s]), new Map())", "map"], ["$.toSorted((a, b) => a.length - b.length)", "texts"], ["Math.max(...$.map((s) => s.length))", "number"],
  ],
  numbers: [
    ["$.map((x) => x * 2)", "numbers"], ["$.map((x, i) => x ** (i % 3))", "numbers"], ["$.filter((x) => x % 2 === 0)", "numbers"], ["$.reduce((a, b) => a + b, 0)", "number"], ["[...$].sort()", "numbers"], ["[...$].sort((a, b) => a - b)", "numbers"], ["$.toSorted((a, b) => b - a)", "numbers"],
    ["Math.max(...$)", "number"], ["Math.min(...$)", "number"], ["Math.hypot(...$)", "number"], ["$.map(String)", "texts"], ["$.map((x) => x.toFixed(#c))", "texts"], ["$.map((x) => x.toString(#b))", "texts"], ["$.join('+')", "text"], ["Float64Array.from($)", "floats"], ["Int8Array.from($)", "bytes"],
    ["Uint8ClampedArray.from($)", "bytes"], ["$.indexOf(#n)", "number"], ["$.includes(NaN)", "flag"], ["$.findIndex((x) => x < 0)", "number"], ["$.findLastIndex((x) => x > 1)", "number"], ["$.map((x, i) => $.slice(0, i + 1).reduce((a, b) => a + b))", "numbers"], ["[...new Set($)]", "numbers"],
    ["$.reduce((all, x, i) => (i % 2 ? all.at(-1).push(x) : all.push([x]), all), []).map((pair) => pair.length)", "numbers"], ["$.map((x) => x | 0)", "numbers"], ["$.map((x) => x >>> 1)", "numbers"], ["$.map(Math.round)", "numbers"], ["$.map(Math.trunc)", "numbers"], ["$.map(Math.sign)", "numbers"],
    ["$.slice(#n)", "numbers"], ["$.at(#n) ?? NaN", "number"], ["$.flatMap((x) => [x, -x])", "numbers"], ["Object.entries($).length", "number"], ["$.map((x) => new Date(x * 864e5))", "dates"], ["Object.fromEntries($.map((x, i) => ['k' + i, x]))", "object"], ["$.map((x) => ({ n: x, odd: x % 2 !== 0 }))", "rows"],
    ["($.length = #c, $.map((x) => x))", "numbers"], ["$.map((x) => Math.fround(x))", "numbers"], ["$.map((x) => x.toPrecision(3))", "texts"], ["$.map((x) => Math.clz32(x))", "numbers"], ["$.every(Number.isInteger)", "flag"], ["BigInt.asIntN(16, BigInt(Math.trunc($[0] ?? 0) || 0)).toString()", "text"],
  ],
  number: [
    ["$ + 1", "number"], ["$ * -1", "number"], ["$ / 3", "number"], ["$ % 7", "number"], ["$ ** 2", "number"], ["Math.sqrt($)", "number"], ["Math.cbrt($)", "number"], ["Math.round($)", "number"], ["Math.floor($ / 2)", "number"], ["$ | 0", "number"], ["$ >>> 3", "number"], ["$ << 5", "number"], ["~$", "number"], ["$ ^ 255", "number"],
    ["$.toFixed(#c)", "text"], ["$.toString(#b)", "text"], ["$.toPrecision(5)", "text"], ["$.toExponential(2)", "text"], ["String($)", "text"], ["`${$}px`", "text"], ["Number.isInteger($)", "flag"], ["Number.isSafeInteger($)", "flag"], ["isNaN($)", "flag"], ["Object.is($, -0)", "flag"], ["$ > #n", "flag"],
    ["Math.log2(Math.abs($) + 1)", "number"], ["Math.max($, 0)", "number"], ["Array.from({ length: Math.min(Math.abs($) || 0, 5) }, (_, i) => i * $)", "numbers"], ["[$, $ + 1, -$]", "numbers"], ["new Date($ * 1e6)", "date"],
    ["Math.imul($, 2654435761)", "number"], ["Math.fround($)", "number"], ["$ == #n", "flag"], ["[$].concat([[1]]).flat()", "numbers"], ["parseInt(String($), 8)", "number"], ["+(Math.round($ * 100) / 100).toFixed(1)", "number"], ["Number(($).toString(36).length)", "number"],
    ["((n) => { let s = ''; for (; n >= 1; n = Math.floor(n / 26)) s = String.fromCharCode(65 + (n % 26)) + s; return s.slice(-6); })(Math.abs($))", "text"], ["$.toLocaleString('en-US')", "text"], ["BigInt(Number.isInteger($) ? $ : 7).toString(3)", "text"],
  ],
  flag: [["!$", "flag"], ["$ + 1", "number"], ["String($)", "text"], ["$ && 'yes'", "other"], ["$ ? [1, 2] : [3]", "numbers"], ["[$, !$].map(Number)", "numbers"], ["$ === true", "flag"], ["{ ok: $ }", "object"], ["typeof $", "text"]],
  rows: [
    ["$.map((row) => Object.values(row)[0])", "others"], ["$.map(({ ...rest }) => Object.keys(rest).join())", "texts"], ["$.toSorted((a, b) => String(Object.values(a)[1]) < String(Object.values(b)[1]) ? -1 : 1)", "rows"], ["$.filter((row) => Object.values(row).some((v) => typeof v === 'number' && v > 1))", "rows"],
    ["Object.fromEntries($.map((row, i) => [i, row]))", "object"], ["$.map((row, index) => ({ index, ...row }))", "rows"], ["JSON.stringify($)", "text"], ["$.length", "number"], ["$.flatMap(Object.entries).map(([k, v]) => `${k}=${v}`)", "texts"], ["$.reduce((sum, row) => sum + (Object.values(row).find((v) => typeof v === 'number') ?? 0), 0)", "number"],
    ["new Map($.map((row) => [JSON.stringify(row).length, row]))", "map"], ["$.find((row) => Object.values(row).includes(2)) ?? {}", "object"], ["structuredClone($).map((row) => (delete row.n, delete row.key, row))", "rows"], ["[Object.keys($[0] ?? {}).join(), ...$.map((row) => Object.values(row).join())].join('\\n')", "text"],
    ["$.slice(-2)", "rows"], ["$.reduce((groups, row) => { const key = typeof Object.values(row)[0]; (groups[key] ??= []).push(row); return groups; }, {})", "object"], ["$.map((row) => Object.freeze(row)).every(Object.isFrozen)", "flag"], ["$.at(0) ?? {}", "object"], ["Object.assign({}, ...$)", "object"],
  ],
  object: [
    ["Object.keys($)", "texts"], ["Object.values($).map(String)", "texts"], ["Object.entries($).length", "number"], ["JSON.stringify($, null, 2)", "text"], ["{ ...$, added: true }", "object"], ["Object.fromEntries(Object.entries($).reverse())", "object"], ["new Map(Object.entries($))", "map"], ["structuredClone($)", "object"],
    ["(({ added, ...rest }) => rest)($)", "object"], ["'k1' in $", "flag"], ["Object.hasOwn($, 'a')", "flag"], ["Object.entries($).map(([key, value]) => ({ key, value: String(value) }))", "rows"], ["Object.assign(Object.create({ inherited: 1 }), $)", "object"], ["Object.isFrozen(Object.freeze({ ...$ }))", "flag"],
    ["$?.a?.b?.[0] ?? 'none'", "other"], ["Object.getOwnPropertyNames($).sort()", "texts"], ["(() => { const keys = []; for (const key in $) keys.push(key); return keys; })()", "texts"], ["Object.entries(Object.getOwnPropertyDescriptors($)).map(([k, d]) => k + d.writable)", "texts"], ["JSON.stringify($, (k, v) => (typeof v === 'number' ? undefined : v))", "text"],
    ["JSON.parse(JSON.stringify($), (k, v) => (typeof v === 'string' ? v.length : v))", "object"], ["String($)", "text"], ["Reflect.ownKeys($).length", "number"], ["Object.entries($).sort(([a], [b]) => (a < b ? 1 : -1))", "others"],
  ],
  map: [
    ["$.size", "number"], ["[...$.keys()].map(String)", "texts"], ["[...$.values()].length", "number"], ["$.set('new', 0)", "map"], ["$.has(#s)", "flag"], ["$.get([...$.keys()][0]) ?? 'none'", "other"], ["$.delete([...$.keys()].at(-1))", "flag"], ["new Map([...$].reverse())", "map"], ["new Map([...$].filter(([k]) => k))", "map"],
    ["Object.fromEntries($)", "object"], ["[...$].map(([k, v]) => `${k}:${v}`)", "texts"], ["new Set($.keys())", "set"], ["[...$.entries()].flat().length", "number"], ["(() => { const seen = []; $.forEach((v, k, m) => seen.push(`${k}${m === $}`)); return seen; })()", "texts"],
    ["JSON.stringify($)", "text"], ["structuredClone($)", "map"], ["(() => { for (const [k] of $) { $.delete(k); $.set(k + '!', 1); if ($.size > 9 || String(k).length > 8) break; } return $; })()", "map"], ["Object.prototype.toString.call($)", "text"],
  ],
  set: [
    ["$.size", "number"], ["[...$].map(String)", "texts"], ["$.add('z').add('z')", "set"], ["$.has(#s)", "flag"], ["$.delete([...$][0])", "flag"], ["new Set([...$].filter((x, i) => i % 2))", "set"], ["[...$].join('')", "text"], ["[...$.entries()].length", "number"], ["Array.from($, (x) => String(x) + '.')", "texts"],
    ["(() => { for (const x of $) if ($.size < 9) $.add(x + x); return $; })()", "set"], ["new Set([...$, ...'abc'])", "set"], ["[...$].every((x) => $.has(x))", "flag"], ["structuredClone($)", "set"], ["new Map([...$].map((x, i) => [x, i]))", "map"],
  ],
  bytes: [
    ["[...$]", "numbers"], ["$.length", "number"], ["$.slice(1)", "bytes"], ["$.subarray(1, 3)", "bytes"], ["$.map((b) => b * 2)", "bytes"], ["$.toReversed()", "bytes"], ["$.fill(#n, 1, 2)", "bytes"], ["Array.from($, (b) => (b & 255).toString(16).padStart(2, '0')).join('')", "text"], ["new Uint16Array($)", "bytes"],
    ["new Uint8Array($.buffer)", "bytes"], ["$.join('.')", "text"], ["$.reduce((a, b) => (a * 31 + b) | 0, 7)", "number"], ["new TextDecoder().decode(Uint8Array.from($))", "text"], ["$.set([#c], 0)", "other", "$.length"], ["$.toSorted()", "bytes"], ["$.filter((b) => b > 99)", "bytes"], ["$.with(0, 300)", "bytes", "$.length"],
    ["$.indexOf(97)", "number"], ["JSON.stringify($)", "text"], ["Object.keys($)", "texts"], ["$.byteLength + $.BYTES_PER_ELEMENT", "number"], ["String.fromCharCode(...$)", "text"], ["$ instanceof Uint8Array", "flag"], ["[...$.entries()].map(([i, b]) => i + b)", "numbers"], ["structuredClone($)", "bytes"],
  ],
  floats: [
    ["[...$]", "numbers"], ["$.map((x) => x / 3)", "floats"], ["Float32Array.from($)", "floats"], ["$.sort()", "floats"], ["$.toSorted((a, b) => b - a)", "floats"], ["new Uint8Array($.buffer)", "bytes"], ["Int32Array.from($)", "bytes"], ["$.at(-1) ?? 0", "number"], ["$.includes(NaN)", "flag"], ["new DataView($.buffer).byteLength", "number"],
    ["$.reduce((a, b) => a + b, 0)", "number"], ["$.findLast((x) => x > 0) ?? -1", "number"], ["$.join(' ')", "text"], ["$.subarray(-2)", "floats"],
  ],
  date: [
    ["$.getTime()", "number"], ["$.toJSON() ?? 'null'", "text"], ["$.getUTCDay()", "number"], ["$.getFullYear()", "number"], ["$.getMonth() + 1", "number"], ["new Date($.getTime() + #n * 36e5)", "date"], ["new Date($.getFullYear(), $.getMonth() + #n, 0)", "date"], ["new Date(Date.UTC($.getUTCFullYear(), 0, 1))", "date"],
    ["new Date($).setUTCDate(#n)", "number"], ["new Date(new Date($).setMonth($.getMonth() + #n))", "date"], ["new Date(new Date($).setHours(#n, 30, 0, 0))", "date"], ["$.toUTCString()", "text"], ["$.toDateString()", "text"], ["$.toString()", "text"], ["$.toTimeString()", "text"], ["String($).slice(0, 15)", "text"],
    ["new Date($.toString())", "date"], ["new Date($.toUTCString())", "date"], ["new Date($.toISOString?.() ?? 0)", "date", "1"], ["$.toLocaleDateString('en-US')", "text"], ["$.toLocaleTimeString('en-US')", "text"], ["$.toLocaleDateString('en-GB', { weekday: 'long', month: 'short', day: 'numeric' })", "text"],
    ["Math.floor(($ - new Date('2024-01-01')) / 864e5)", "number"], ["$ > new Date(0)", "flag"], ["$.getTimezoneOffset()", "number"], ["+$ === $.valueOf()", "flag"], ["`${$.getFullYear()}-${String($.getMonth() + 1).padStart(2, '0')}`", "text"], ["new Date(+$)", "date"], ["[$, new Date(0)].sort((a, b) => a - b)", "dates"],
    ["$ + 1", "text"], ["JSON.stringify({ at: $ })", "text"], ["structuredClone($)", "date"], ["isNaN($)", "flag"], ["new Date(new Date($).setUTCFullYear(2023, 1, 29))", "date"], ["$[Symbol.toPrimitive]('number')", "number"], ["new Date($.getFullYear(), $.getMonth(), $.getDate() - $.getDay() + 1)", "date"],
  ],
  dates: [
    ["$.map((d) => d.getTime())", "numbers"], ["[...$].sort((a, b) => b - a)", "dates"], ["$.map((d) => d.toJSON()?.slice(0, 10) ?? 'null')", "texts"], ["new Date(Math.max(...$))", "date"], ["$.reduce((m, d) => m.set(d.getUTCMonth(), (m.get(d.getUTCMonth()) ?? 0) + 1), new Map())", "map"], ["$[0] ?? new Date(0)", "date"],
    ["$.filter((d) => d.getUTCDay() % 6)", "dates"], ["$.map(String)", "texts"], ["JSON.stringify($)", "text"], ["[...$].sort().map(Number)", "numbers"],
  ],
  others: [["$.length", "number"], ["JSON.stringify($)", "text"], ["$.map((x) => typeof x)", "texts"], ["$.filter(Boolean).length", "number"], ["$.flat().length", "number"], ["$.map(String)", "texts"], ["[...$].reverse().length", "number"]],
  other: [["String($)", "text"], ["typeof $", "text"], ["[$].length", "number"], ["JSON.stringify([$])", "text"], ["$ ?? 'nothing'", "other"], ["{ a: $ }", "object"], ["Boolean($)", "flag"]],
};

const VIEWS = { map: "[...$]", set: "[...$]", bytes: "[...$]", floats: "[...$].map(String)", number: "Object.is($, -0) ? '-0' : String($)", numbers: "$.map(String)", dates: "$.map((d) => d.toJSON())", date: "$.toJSON()" };

const BEGINNINGS = {
  text: (r) => JSON.stringify(r.of([r.word() + " " + r.word(), "The quick brown fox", "user_name-42.test@mail.example", "  two  words ", "Ünïcödé & ﬁne 😀", "a,b;c d", "camelCaseTextHere", "12.5kg at 3pm, 7 left", "<b>x</b>", "line one\nline two\r\n\tthree", "aaa bab abc acd", "", "Å Å ñ"])),
  texts: (r) => JSON.stringify(r.list(0, 6, () => r.of(["pear", "Apple", "fig", "kiwi", "apple", "10", "9", "", "Éclair", "zoo", "äpfel", "a b", "fig"]))),
  numbers: (r) => `[${r.list(0, 7, () => r.of(["3", "-1", "10", "2.5", "0", "-0", "NaN", "100", "7", "1e21", "0.1", "-2.5", "255", "1e-7"])).join(", ")}]`,
  number: (r) => r.number(),
  rows: (r) => `[${r.list(1, 4, (i) => `{ ${r.of(["id", "n", "2"])}: ${i + 1}, name: ${JSON.stringify(r.of(["Ada", "Bo", "Cy", "dee"]))}, ${r.of(["tags: ['x']", "score: " + r.integer(-5, 50), "ok: true", "at: null", "'odd key': 1.5"])} }`).join(", ")}]`,
  object: (r) => `{ ${r.list(1, 4, () => `${r.of(["a", "b", "k1", "10", "2", "'x-y'", "z"])}: ${r.value(1).replace(/^\((.*)\)$/s, "$1")}`).join(", ")} }`,
  map: (r) => `new Map([${r.list(0, 4, (i) => `[${r.of(["'a'", "1", "'1'", "NaN", "null", "-0", "'k" + i + "'"])}, ${r.of(["1", "'x'", "true", "[2]"])}]`).join(", ")}])`,
  set: (r) => `new Set([${r.list(0, 6, () => r.of(["1", "'1'", "'a'", "'b'", "NaN", "NaN", "0", "-0", "'a'", "null"])).join(", ")}])`,
  bytes: (r) => `${r.of(["Uint8Array", "Int8Array", "Int16Array", "Uint8Array", "Uint32Array", "Int32Array"])}.of(${r.list(1, 6, () => r.integer(-3, 300)).join(", ")})`,
  floats: (r) => `${r.of(["Float32Array", "Float64Array"])}.of(${r.list(1, 5, () => r.number()).join(", ")})`,
  date: (r) => `new Date(${r.of([
    "'2024-02-29T12:34:56.789Z'", "'2024-03-10'", "2023, 11, 31, 23, 59, 59", "0", "'1999-12-31T23:00:00-05:00'", "Date.UTC(2020, 1, 30)", "'2024-01-15 10:00:00'", "'2024/01/15'", "'Jan 15, 2024 3:45 PM'", "'1/15/2024'", "'Mon, 15 Jan 2024 08:00:00 GMT'", "'not a date'", "1e15", "-1", "99, 0",
    "'2024-06-30T23:59:60Z'", "'2024-07-04T08:00:00.123456Z'", "'15 March 2024'", "'2024-01-15T10:00:00+0530'", "'2024-1-5'", "'Tue Mar 05 2024 09:10:11 GMT+0200 (EET)'", "'2024-12'", "'2024'", "2024, 0", "'20240115'", "'March 7'", "'2024-01-15T10:00'", "'12:30'", "new Date(86400000)", "null", "undefined",
  ])})`,
  dates: (r) => `[${r.list(1, 4, () => BEGINNINGS.date(r)).join(", ")}]`,
};

// A program that begins with a value of `kind`.
export function pipeline(random, kind) {
  const known = [];
  const lines = [];
  const add = (kind, source) => {
    const name = "abcdefghijklm"[known.length];
    lines.push(`const ${name} = ${source};`);
    known.push([name, kind]);
  };
  add(kind, BEGINNINGS[kind](random));
  for (let n = random.integer(3, 6); n > 0; n--) {
    const [name, of] = random.chance(65) ? known.at(-1) : random.of(known);
    const [template, to] = random.of(OPERATIONS[of]);
    const short = random.of(["a", "b", "an", " ", "x", "é", "e", "1"]);
    const source = template.replaceAll("$.", `${name}.`).replaceAll("$)", `${name})`).replace(/\$(?![&$1-9<`'{])/g, name).replaceAll("${$", `\${${name}`)
      .replaceAll("#n", random.integer(-3, 5)).replaceAll("#c", random.integer(0, 3)).replaceAll("#w", random.integer(0, 14)).replaceAll("#b", random.of([2, 3, 8, 16, 36])).replaceAll("#s", JSON.stringify(short));
    add(to, source);
  }
  const views = known.map(([name, kind]) => (VIEWS[kind] ?? "$").replaceAll("$", name));
  return `${lines.join("\n")}\nreturn [${views.join(", ")}];`;
}
