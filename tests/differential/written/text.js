"a-b_c d".split(/[-_ ]/)
"abc".split("")
"a1b2c3".split(/\d/)
"a1b2".split(/(\d)/)
"abc".split(/(?:)/u)
"".split("") 
"".split(",")
"a,b,".split(",")
"a,b,c".split(",", 2)
"a,b".split(undefined)
"ab".split(/(x)?/)
"aXbxc".split(/x/i)
"test".replace("t", "T")
"test".replaceAll("t", "T")
"test".replace(/t/g, (m, at, s) => m + at + s.length)
"a.b.c".replaceAll(".", "$&$&")
"abc".replace("b", "[$`|$'|$$]")
"John Smith".replace(/(\w+)\s(\w+)/, "$2, $1")
"2024-05-06".replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, "$<d>/$<m>/$<y>")
"2024-05".replace(/(?<y>\d+)-(?<m>\d+)/, (...a) => JSON.stringify(a.at(-1)))
"abc".replace(/(x)?b/, "[$1]")
"abc".replace(/b/, "$1$0$2")
"aaa".replace(/a/gy, "b")
"aaa".lastIndexOf("a", 1)
"abc".replace(/(?=b)/, "^")
"abc".replace(/$/, "!")
"a\nb".replace(/^/gm, "> ")
"x".replace("x", () => "$&")
"x".replace("x", null)
"x".replace("x", undefined)
"undefined".replace(undefined, "u")
"abcabc".match(/b/)
"abcabc".match(/b/g)
"abc".match(/(?<one>a)(?<two>x)?/).groups
"abc".match(/z/)
"abc".match("b").index
[..."a1b22".matchAll(/[a-z](\d+)/g)].map((m) => [m[0], m[1], m.index])
"abc".search(/c/)
"Straße".toUpperCase()
"İ".toLowerCase().length
"ΑΣ".toLowerCase()
"ǆ".toUpperCase() + "ß".toUpperCase()
"I".toLocaleLowerCase("tr")
"é".normalize("NFD").length
"ﬁ".normalize("NFKC")
"\u0041\u030a".normalize()
"😀".length + [..."😀"].length
"😀".charCodeAt(0).toString(16) + "😀".codePointAt(0).toString(16)
"😀"[0] === "\ud83d"
"😀a".at(-1)
"😀".split("").length
"😀b".slice(1).isWellFormed()
"\ud83d".toWellFormed()
"👨‍👩‍👧".length
[..."👨‍👩‍👧"].length
String.fromCodePoint(128512, 65)
String.fromCharCode(55357, 56832)
"a".codePointAt(5) ?? "none"
"a".charAt(9)
isNaN("a".charCodeAt(9))
"abc".at(-4) ?? "none"
"abc".slice(-2, -1)
"abc".substring(2, 0)
"abc".substring(-1, NaN)
"abc".substr(-2, 1)
"abc".slice(2, 1)
"abc".padStart(6, "12")
"abc".padEnd(2)
"abc".padStart(5, "")
"abc".repeat(0)
"  x ".trim() + "|" + "  x ".trimEnd() + "|"
"\u00a0\ufeffx\u2003".trim().length
"a" < "B"
"a".localeCompare("B")
"a".localeCompare("á")
"résumé".localeCompare("resume")
"a".localeCompare("A")
"10".localeCompare("2", undefined, { numeric: true })
"a".localeCompare("A", undefined, { sensitivity: "base" })
["b", "a", "C", "á"].sort((x, y) => x.localeCompare(y))
["b", "a", "C", "á"].sort()
"abc".includes("")
"abc".indexOf("", 9)
"abc".startsWith("b", 1)
"abc".endsWith("b", 2)
"abc".concat([1, [2]], {})
"abc".localeCompare()
"%41%zz".split("%")
encodeURIComponent("a b&c=d/é😀'()*!~")
encodeURI("http://x/a b?q=é#f")
decodeURIComponent("%F0%9F%98%80+")
escape("é ü/@") + unescape("%E9%u2603")
JSON.stringify("\u2028\u0007\"\\/\ud800")
`line one
line two`.split("\n").length
`a${1}${"b"}${[1, 2]}${{}}${null}`
String.raw`a\n${1}\u0041`
((s, ...v) => [s.raw, v])`x${1}\ty${2}`
((s) => s[0] === undefined)`\unicode`
"abc".anchor?.("n")
"a-b-c".split("-").map((w, i) => (i ? w[0].toUpperCase() + w.slice(1) : w)).join("")
"helloWorldFooBar".replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()
"The Quick".replace(/[A-Z]/g, (c) => c.toLowerCase() + "'")
"aaa".replace(/a/g, (() => { let n = 0; return () => ++n; })())
"1234567.891".replace(/\B(?=(\d{3})+(?!\d))/g, ",")
"1234567".replace(/(\d)(?=(\d{3})+$)/g, "$1,")
"<a href='x'>t</a>".replace(/<[^>]+>/g, "")
"a & b < c".replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c])
"k1=v1;k2=v2".split(";").map((p) => p.split("="))
"the cat sat on the mat".split(" ").reduce((m, w) => ({ ...m, [w]: (m[w] || 0) + 1 }), {})
"level".split("").reverse().join("") === "level"
"abcdef".match(/.{1,2}/g)
"  indented\n    more".split("\n").map((l) => l.search(/\S/))
"a\tb".split("\t").join("    ")
"x".codePointAt().toString(2).padStart(8, "0")
[..."hello"].map((c) => String.fromCharCode(((c.charCodeAt(0) - 97 + 13) % 26) + 97)).join("")
"z".charCodeAt() - "a".charCodeAt()
/a.c/s.test("a\nc")
/^b/m.test("a\nb")
/(a)|(b)/.exec("b")
/a{2,3}/.exec("aaaa")[0]
/a{2,3}?/.exec("aaaa")[0]
/(?<!\$)\b\d+/.exec("$5 10")[0]
/\u{1F600}/u.test("😀")
/^.$/.test("😀") + "" + /^.$/u.test("😀")
/\p{Script=Greek}/u.test("α")
/\bfoo\b/i.test("a FOO b")
/(\w)\1/.exec("hello")[0]
/(?<x>\d)\k<x>/.test("122")
/[^]/.test("\n")
/[]/.test("a")
/a|ab/.exec("abc")[0]
/((a)|(b))+/.exec("ab").slice()
/(?:(a)|b)*/.exec("ab").slice()
/x*/g[Symbol.replace]("abc", "-")
/a/y.test("ba")
/[\d-x]+/.exec("1-x")[0]
/\cJ/.test("\n")
/\0/.test("\0")
/[\b]/.test("\b")
/a(?!b)/.exec("abac").index
/ſ/i.test("s") + "" + /ſ/iu.test("s")
/K/i.test("\u212a") + "" + /K/iu.test("\u212a")
/\w/iu.test("ſ")
/[^x]/iu.test("X")
/\//.source
new RegExp("/").source
new RegExp("").toString()
new RegExp("\n").source
new RegExp("a/b\\/c").toString()
new RegExp("\\d+", "g").source
RegExp("[/]").source
/a/gimsuyd.flags
new RegExp(/x/g, "i").flags
new RegExp(/x/g).flags
/a/g.lastIndex = 5
(() => { const r = /a/g; return [r.test("aa"), r.lastIndex, r.test("aa"), r.lastIndex, r.test("aa"), r.lastIndex]; })()
(() => { const r = /a/y; r.lastIndex = 1; return [r.exec("ba").index, r.lastIndex, r.exec("ba")]; })()
(() => { const r = /b/dg; const m = r.exec("abc"); return [m.indices[0], r.lastIndex]; })()
(() => { /(.)(.)/.exec("xy"); return [RegExp.$1, RegExp.$2, RegExp.lastMatch, RegExp["$&"], RegExp.leftContext, RegExp.input]; })()
(() => { const r = /o/g; return "foo boo".replace(r, (m, at) => at) + r.lastIndex; })()
(() => { class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m[0] = m[0].toUpperCase(); return m; } } return "abc".replace(new R("b"), "[$&]"); })()
(() => { class R extends RegExp { [Symbol.replace](s, t) { return "own " + s + t; } } return "abc".replace(new R("b"), "x"); })()
"abc".split({ [Symbol.split]: (s, n) => [s, n ?? "no limit"] })
"abc".match({ [Symbol.match]: (s) => s.length })
(() => { const parts = []; "a1b2".replace(/[a-z]\d/g, (m) => { parts.push(m); return ""; }); return parts; })()
"aBc".replace(/[a-z]/gi, (c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase()))
"x=1, y=22".match(/(?<k>\w)=(?<v>\d+)/g)
Object.fromEntries([..."x=1, y=22".matchAll(/(?<k>\w)=(?<v>\d+)/g)].map(({ groups: { k, v } }) => [k, +v]))
"\u200bx\u200b".trim().length
"a\u0000b".length
"tab\there".indexOf("\t")
"ab" + +"3" + -"2"
"5" * "2" + "1"
[..."mississippi"].filter((c, i, a) => a.indexOf(c) === i).join("")
Array.from("abc", (c, i) => c.repeat(i + 1)).join("-")
[..."bca"].sort().join("")
"abc".split("").sort((a, b) => (a < b ? 1 : -1)).join("")
"Ünïcödé".normalize("NFD").replace(/\p{M}/gu, "")
"Hello, World".replace(/[^a-z]/gi, "").toLowerCase()
"one  two".split(" ")
"one  two".split(/\s+/)
" a b ".split(/\s+/)
"a,b;c".split(/[,;]/)
"2 + 3*4".match(/\d+|[+*]/g)
"v1.10.2".match(/\d+/g).map(Number)
["1.10", "1.9", "1.2.3"].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))
"CSV,\"with, comma\",end".match(/("([^"]*)"|[^,]+)/g)
"0".repeat(3) + (7).toString(2)
"abc" == new String("abc")
typeof Object("x") + typeof String(1)
Object.keys("ab") + Object.entries("ab")
"length" in Object("ab")
"a".constructor === String
[..."ab"].entries().next().value
"abc"[Symbol.iterator]().next().value
"ab\u{1F1E9}\u{1F1EA}".length
new Intl.Segmenter("en", { granularity: "grapheme" }).segment("e\u0301😀")[Symbol.iterator]().next().value.segment
"x".padStart(3, "ab") + "x".padEnd(4, "ab")
"abc".substring(1) + "abc".substr(1) + "abc".slice(1)
isFinite("12") + parseFloat("1.5e3abc") + Number("0x1f") + parseInt("12px")
Number("") + Number(" ") + Number("1 2")
String([1, [2, 3]]) + String({}) + String(null) + String(Symbol("s"))
[null, undefined, true, 1n].map(String)
`${[]}` + `${[null]}` + `${[undefined, 1]}`
