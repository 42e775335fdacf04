//! Which calls are found in a source, and what is known of them.

use super::{Known, Reach, Sites};

fn sites(source: &str) -> Sites {
    let is_server = |name: &str| name == "fs" || name == "git";
    let Ok(translated) = crate::translate(source, &crate::Globals { is_server: &is_server, ..crate::Globals::NONE })
    else {
        panic!("{source} is no program")
    };
    translated.calls
}

fn shown(known: &Known) -> String {
    let mut text = known.json.clone();
    for (word, places) in [(" unknown", &known.unknown), (" text", &known.texts), (" open", &known.open)] {
        if !places.is_empty() {
            text.push_str(&format!("{word} {places:?}"));
        }
    }
    text
}

/// The calls that end the script where they fail.
fn fatal(source: &str) -> String {
    let shown = |site: &super::Site| {
        let arguments = site.arguments.as_ref().map_or_else(|| "?".to_owned(), shown);
        format!("{}:{} {}.{} {arguments}", site.position.line, site.position.column, site.server, site.tool)
    };
    sites(source).all.iter().filter(|site| site.is_fatal).map(shown).collect::<Vec<_>>().join("; ")
}

/// All calls, in short: `!` is fatal, `+` certain, `?` possible, `~` guarded, `*` in a loop.
fn all(source: &str) -> String {
    let sites = sites(source);
    let shown = |site: &super::Site| {
        let reach = match site.reach {
            Reach::Certain if site.is_fatal => "!",
            Reach::Certain => "+",
            Reach::Possible => "?",
            Reach::Guarded => "~",
        };
        format!("{reach}{}{}.{}", if site.in_loop { "*" } else { "" }, site.server, site.tool)
    };
    let mut shown: Vec<String> = sites.all.iter().map(shown).collect();
    if sites.has_others {
        shown.push("others".to_owned());
    }
    shown.join(" ")
}

#[test]
fn what_is_awaited_in_any_case_is_fatal() {
    for (source, found) in [
        (
            "await fs.read({ path: 'a', n: -1.5, all: [true, null] })",
            r#"1:10 fs.read {"path":"a","n":-1.5,"all":[true,null]}"#,
        ),
        ("const { a } = await fs['read']({ path: p })", r#"1:24 fs.read {"path":null} unknown ["/path"]"#),
        ("const path = 'x';\nreturn fs.read({ path })", r#"2:11 fs.read {"path":"x"}"#),
        ("fs.read()", "1:4 fs.read {}"),
        ("async function main() { if (a) return 1; await git.log({}) }\nawait main()", ""),
        ("async function main() { await git.log({}); }\nmain()", "1:35 git.log {}"),
        ("async () => { const x = await git.log(`a`) }", "1:35 git.log ?"),
        ("const [a] = await Promise.all([fs.read({}), 1])", "1:35 fs.read {}"),
        ("return (await fs.read({})).map((x) => fs.no(x))", "1:18 fs.read {}"),
        ("for (const x of await fs.list({})) { await fs.no(x) }", "1:26 fs.list {}"),
        ("return await fs.read({}).then((x) => x)", "1:17 fs.read {}"),
        ("await fs.read({ a: 1, a: 2 })", "1:10 fs.read ?"),
        ("await fs.read({ a: 'q\"\\n' })", r#"1:10 fs.read {"a":"q\"\u000a"}"#),
        ("try { x() } finally { await fs.read({}) }", "1:32 fs.read {}"),
        ("try { await fs.read({}) } finally { x() }", "1:16 fs.read {}"),
        ("const { read, list: all } = fs; await read({}); await all({})", "1:39 fs.read {}; 1:55 fs.list {}"),
        ("const disk = fs; const read = disk.read; await read({})", "1:48 fs.read {}"),
        ("await tools.call('fs.read', { a: 1 })", r#"1:13 fs.read {"a":1}"#),
        ("if (x) throw new Error('y'); await fs.read({})", "1:39 fs.read {}"),
    ] {
        assert_eq!(fatal(source), found, "{source}");
    }
}

#[test]
fn what_is_guarded_or_can_be_caught_is_not_fatal() {
    for (source, found) in [
        ("try { await fs.read({}) } catch {}", "+fs.read"),
        ("try { if (x) throw 1; await fs.read({}) } catch {}", "~fs.read"),
        ("try { await fs.read({}) } finally { return 1 }", "+fs.read"),
        ("if (x) { await fs.read({}) }", "?fs.read"),
        ("if ('read' in fs) await fs.read({})", "~fs.read"),
        ("if (typeof fs.read !== 'function') return 1;\nawait fs.read({})", "~fs.read"),
        ("while (x) { await fs.read({}) }", "?*fs.read"),
        ("x && await fs.read({}); x ? await fs.read({}) : 1; 1", "?fs.read ?fs.read"),
        ("await fs.read?.({}); await fs?.read({}); 1", "~fs.read ~fs.read"),
        ("await fs.read({}).catch(() => 1)", "+fs.read"),
        ("await fs.read({}).then((x) => x, () => 1)", "+fs.read"),
        ("await Promise.allSettled([fs.read({})]); await Promise.race([fs.read({})]); 1", "+fs.read +fs.read"),
        ("const p = fs.read({}); 1", "+fs.read"),
        ("async function main() { await fs.read({}) }\nmain(); 1", "+fs.read"),
        ("async function main() { await fs.read({}) }\nmain().catch(console.log)", "+fs.read"),
        ("let main = async () => { await fs.read({}) }; main = async () => 1; await main()", "?fs.read"),
        ("const fs = { read() {} }; await fs.read({})", ""),
        ("function f(fs) { return fs.read({}) }\nawait f({ read() {} })", ""),
        ("a: { break a; await fs.read({}) }", "?fs.read"),
        ("await fs.$exclusive(); 1", ""),
        ("x ||= await fs.read({}); 1", "?fs.read"),
        ("let read = fs.read; read = other; await read({})", "?fs.read"),
        ("var f = async () => 1; await f(); var f = async () => { await fs.read({}) }; 1", "?fs.read"),
        (
            "await (async (cb) => { await cb(); if (0) { var cb = async () => fs.read({}) } })(async () => 1)",
            "?fs.read",
        ),
        ("function f() { return 1 } await f(); var f = async () => { await fs.read({}) }; 1", "?fs.read"),
        ("let f = async () => { await fs.read({}) }; eval('f = async () => 1'); await f()", "?fs.read"),
        ("await fs.read({}).then(...[(x) => x, () => 0]); 1", "+fs.read"),
        ("Promise.all = Promise.allSettled; await Promise.all([fs.read({})])", "+fs.read"),
        ("Promise.prototype.then = other; await fs.read({})", "+fs.read"),
    ] {
        assert_eq!(all(source), found, "{source}");
    }
}

#[test]
fn each_place_is_found_in_the_order_of_the_source_and_loops_are_marked() {
    for (source, found) in [
        (
            "const all = await Promise.all(paths.map((path) => fs.read({ path }))); return git.log({})",
            "?*fs.read !git.log",
        ),
        ("return Promise.all(paths.map(fs.read))", "?*fs.read"),
        ("for (const p of await fs.list({})) await fs.read({ p })", "!fs.list ?*fs.read"),
        ("const one = async (p) => fs.read({ p });\nfor (const p of ps) await one(p)", "?*fs.read"),
        ("const two = (p) => fs.read(p); const one = (p) => two(p); return Promise.all(ps.map(one))", "?*fs.read"),
        ("await fs[name]({})", "others"),
        ("const all = { fs }; await all.fs.read({})", "others"),
        ("await tools.call(path, {})", "others"),
        ("const path = 'git.log'; await tools.raw(path, {})", "!git.log"),
        ("const { read, ...rest } = fs; await read({})", "others"),
        ("return tools.list()", ""),
    ] {
        assert_eq!(all(source), found, "{source}");
    }
    let many = "await fs.read({});".repeat(300);
    assert_eq!((sites(&many).all.len(), sites(&many).more), (200, 100));
}

#[test]
fn arguments_are_known_as_far_as_they_stand_in_the_source() {
    let known = |arguments: &str| {
        let sites = sites(&format!(
            "const n = 5; const deep = {{ a: 1 }}; const name = `a-${{x}}`; return fs.read({arguments})"
        ));
        sites.all[0].arguments.as_ref().map_or_else(|| "?".to_owned(), shown)
    };
    for (arguments, found) in [
        (
            "{ n, b: `x${y}`, c: 'a' + y, d: y + 1 }",
            r#"{"n":5,"b":"","c":"","d":null} unknown ["/d"] text ["/b", "/c"]"#,
        ),
        ("{ name }", r#"{"name":""} text ["/name"]"#),
        ("{ a: undefined, b: 1 }", r#"{"b":1}"#),
        ("{ ...y, a: 1 }", r#"{"a":1} open [""]"#),
        ("{ a: { ...y, b: 1 }, c: { [y]: 1 } }", r#"{"a":null,"c":null} unknown ["/a", "/c"]"#),
        ("{ a: { 'b/c': 1 }, ...y, d: [1, y] }", r#"{"a":null,"d":[1,null]} unknown ["/a", "/d/1"] open [""]"#),
        ("{ a: [1, ...y], b: [, 1] }", r#"{"a":null,"b":null} unknown ["/a", "/b"]"#),
        ("{ [y]: 1, a: 2 }", r#"{"a":2} open [""]"#),
        ("{ a: { get b() { return 1 } }, c: 1 }", r#"{"a":null,"c":1} unknown ["/a"]"#),
        ("{ deep }", r#"{"deep":{"a":1}}"#),
        ("deep", r#"{"a":1}"#),
        ("{ a: deep, b: deep }", r#"{"a":null,"b":null} unknown ["/a", "/b"]"#),
        ("{ a: 1e400, b: 10n }", r#"{"a":null,"b":null} unknown ["/a", "/b"]"#),
        ("{ a: y as string, b: (1 as number) }", r#"{"a":null,"b":1} unknown ["/a"]"#),
        ("y", "?"),
        ("'a'", "?"),
        ("{}, 1", "?"),
        ("...y", "?"),
        ("{ toJSON: 1 }", "?"),
        ("{ a: y.toJSON }", "?"),
    ] {
        assert_eq!(known(arguments), found, "{arguments}");
    }
    assert_eq!(known(&format!("{{ a: '{}' }}", "x".repeat(20_000))), "?");
    let deep = format!("{{ a: {}1{} }}", "[".repeat(60), "]".repeat(60));
    assert_eq!(known(&deep), "?", "nothing is known of what is too deep");
}

#[test]
fn names_that_nobody_declares_are_told_where_they_are_certainly_used() {
    let strangers = |source: &str| {
        let name = |stranger: &super::Stranger| format!("{}:{}", stranger.position.line, stranger.name);
        sites(source).strangers.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    for (source, found) in [
        ("const a = await slack.post({ text: 'a' })", "1:slack"),
        ("try { await slack.post({}) } catch {}", ""),
        ("if (x) await slack.post({}); 1", ""),
        ("const slack = { post() {} }; await slack.post({})", ""),
        ("declare const slack: any; await slack.post({})", ""),
        ("globalThis.slack = { post() {} }; await slack.post({})", ""),
        ("Function('return this')().slack = 1; await slack.post({})", ""),
        ("(() => {})['constructor']('globalThis.slack = 1')(); await slack.post({})", ""),
        ("Object.prototype.slack = { post() {} }; await slack.post({})", ""),
        ("await slack.post(1); await slack.post(2); await jira.post(3)", "1:slack 1:jira"),
    ] {
        assert_eq!(strangers(source), found, "{source}");
    }
}
