//! The command line keeps its contract: keys, exit codes, and the stream of each output.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Answer, Terminal, belljar, repository};

/// Runs a command with this on its stdin.
pub(crate) fn fed(terminal: &Terminal, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Answer {
    let mut command = terminal.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = process.stdin.take().unwrap().write_all(stdin.as_ref());
    Answer::of(process.wait_with_output().unwrap())
}

/// The keys of an object, in order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value:#}")).keys().map(String::as_str).collect()
}

const OUTCOME: [&str; 7] = ["ok", "run", "value", "logs", "error", "calls", "usage"];
/// An outcome of a run that never began.
const REFUSED: [&str; 6] = ["ok", "value", "logs", "error", "calls", "usage"];

#[test]
fn run_prints_one_json_document_with_the_keys_of_the_contract_on_success_and_on_failure() {
    const USAGE: [&str; 14] = [
        "wall_ms",
        "guest_ms",
        "wait_ms",
        "fuel",
        "peak_memory_bytes",
        "peak_held_bytes",
        "source_bytes",
        "tool_calls",
        "concurrent_calls",
        "largest_arguments_bytes",
        "largest_result_bytes",
        "log_bytes",
        "log_lines",
        "output_bytes",
    ];
    let terminal = Terminal::new();
    let script = "console.log('a', { b: 1 }); console.error('c'); const { id } = await demo.get_issue({ id: 40 });";

    let answer = terminal.belljar(&["run", "--json", "--code", &format!("{script} return {{ id }};")]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
    let ok = answer.json();
    assert_eq!(keys(&ok), OUTCOME);
    assert_eq!((&ok["ok"], &ok["value"], &ok["error"]), (&json!(true), &json!({ "id": 40 }), &Value::Null));
    assert_eq!(ok["logs"], json!([{ "level": "log", "text": "a { b: 1 }" }, { "level": "error", "text": "c" }]));
    assert_eq!(keys(&ok["calls"][0]), ["server", "tool", "effect", "ok", "ms"]);
    assert_eq!(keys(&ok["usage"]), USAGE);
    assert_eq!(ok["usage"]["output_bytes"], 9);

    let answer = terminal.belljar(&["run", "--json", "--code", &format!("{script}\nthrow new Error('on purpose');")]);
    assert_eq!((answer.code, answer.stderr.as_str()), (1, ""), "{answer:#?}");
    let failed = answer.json();
    assert_eq!(keys(&failed), OUTCOME);
    assert_eq!((&failed["ok"], &failed["value"]), (&json!(false), &Value::Null));
    let error = &failed["error"];
    let expected = ["kind", "message", "thrown", "line", "column", "frame", "stack", "recoverable", "limit"];
    assert_eq!(keys(error), expected, "{error:#}");
    assert_eq!(error["thrown"], json!({ "name": "Error", "message": "on purpose" }));
    assert_eq!((&error["kind"], &error["line"], &error["limit"]), (&json!("exception"), &json!(2), &Value::Null));
    // Earlier results are kept.
    assert_eq!((&failed["logs"], keys(&failed["usage"])), (&ok["logs"], USAGE.to_vec()));
    assert_eq!(failed["calls"][0]["tool"], "get_issue");

    let answer = terminal.belljar(&["run", "--json", "--code", "demo.get_isue({ id: 40 })"]);
    let hint = answer.json()["error"]["hint"].take();
    assert!(hint.as_str().unwrap().contains("get_issue"), "{answer:#?}");
}

#[test]
fn the_exit_code_says_whose_failure_it_was() {
    let terminal = Terminal::new();
    for (arguments, code) in [
        (["run", "--code", "1"].as_slice(), 0),
        (&["run", "--code", "throw 1"], 1),
        (&["run", "--code", "const ="], 1),
        (&["run", "--code", "await demo.get_issue({ id: 4711 })"], 1),
        (&["run", "missing.ts"], 2),
        (&["run", "--config", "missing.toml", "--code", "1"], 2),
        (&["run", "--no-such-flag"], 2),
        (&["no-such-command"], 2),
        (&["call", "demo.list_projects"], 0),
        (&["call", "demo.get_issue", "--input", "{\"id\": 4711}"], 1),
        (&["call", "demo.get_isue"], 2),
        (&["search", "nothing will be found for this"], 0),
        (&["servers"], 0),
        (&["--version"], 0),
    ] {
        let answer = fed(&terminal, arguments, "");
        assert_eq!(answer.code, code, "{arguments:?}: {answer:#?}");
        if code == 2 {
            assert!(answer.stdout.is_empty() && answer.stderr.starts_with("error: "), "{arguments:?}: {answer:#?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_failure_of_belljar_itself_has_an_exit_code_of_its_own() {
    let terminal = Terminal::new();
    for (json, says) in [("", "error: the WebAssembly engine cannot be set up"), ("--json", "\"kind\":\"internal\"")] {
        // An address space that is too small for the pool of instances.
        let line = format!("ulimit -v 4000000 && exec \"$0\" run --code 1 {json}");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).arg(belljar()).current_dir(&terminal.folder);
        let answer = Answer::of(shell.env("XDG_CONFIG_HOME", terminal.folder.path()).output().unwrap());
        assert_eq!(answer.code, 3, "{answer:#?}");
        assert!((answer.stdout.clone() + &answer.stderr).contains(says), "{answer:#?}");
    }
}

#[test]
fn stdout_holds_the_value_alone_and_stderr_all_else() {
    let terminal = Terminal::new();
    let script = "console.log('logged'); await demo.list_projects(); return VALUE;";
    for (value, printed) in [
        ("'two\\nlines'", "two\nlines\n"),
        ("42", "42\n"),
        ("null", "null\n"),
        ("undefined", "null\n"),
        ("[1, { a: 'b' }]", "[\n  1,\n  {\n    \"a\": \"b\"\n  }\n]\n"),
    ] {
        let answer = terminal.belljar(&["run", "--code", &script.replace("VALUE", value)]);
        assert_eq!((answer.code, answer.stdout.as_str()), (0, printed), "{value}: {answer:#?}");
        for part in ["  log logged", "call demo.list_projects  read_only", "ok", "usage wall ", "fuel "] {
            assert!(answer.stderr.contains(part), "{part} is missing: {answer:#?}");
        }
    }
    let answer = terminal.belljar(&["run", "--code", "console.log('logged');\nthrow new TypeError('on purpose')"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{answer:#?}");
    for part in ["logged", "exception: TypeError: on purpose", ">    2 | throw new TypeError", "usage wall "] {
        assert!(answer.stderr.contains(part), "{part} is missing: {answer:#?}");
    }
}

#[test]
fn a_script_comes_from_a_file_from_stdin_or_from_the_command_line() {
    let terminal = Terminal::new();
    let script = "const from: string = 'SOURCE'; return from;";
    terminal.file("script.ts", script.replace("SOURCE", "a file"));
    terminal.file("-", "return 'a file whose name is a dash'");
    let stdin = script.replace("SOURCE", "stdin");
    for (arguments, value) in [
        (["run", "script.ts"].as_slice(), "a file"),
        (&["run", "-"], "stdin"),
        (&["run"], "stdin"),
        (&["run", "--code", "return 'the command line'"], "the command line"),
        (&["run", "./-"], "a file whose name is a dash"),
    ] {
        let answer = fed(&terminal, arguments, &stdin);
        assert_eq!(answer.stdout, format!("{value}\n"), "{arguments:?}: {answer:#?}");
    }
}

#[test]
fn a_script_that_cannot_be_read_is_wrong_usage_and_says_what_to_do() {
    let terminal = Terminal::new();
    terminal.file("latin1.ts", b"return 'caf\xe9'");
    terminal.file("empty.ts", "");
    terminal.file("blank.ts", " \n\t\n");
    std::fs::create_dir(terminal.folder.path().join("folder")).unwrap();
    for (arguments, stdin, message, hint) in [
        (["missing.ts"].as_slice(), &b""[..], "missing.ts does not exist", "name a file that holds a script"),
        (&["missing/script.ts"], b"", "missing/script.ts does not exist", "name a file that holds a script"),
        (&["folder"], b"", "folder is a directory", "name a file that holds a script"),
        (&["/dev/null"], b"", "/dev/null is not a regular file", "name a file that holds a script"),
        (&["latin1.ts"], b"", "latin1.ts is not UTF-8: the byte at offset 11 begins no character", "save it as UTF-8"),
        (&["-"], b"\xff", "stdin is not UTF-8: the byte at offset 0 begins no character", "save it as UTF-8"),
        (&["empty.ts"], b"", "the script is empty", "belljar run --help"),
        (&["blank.ts"], b"", "the script is empty", "belljar run --help"),
        (&["-"], b"", "the script is empty", "belljar run --help"),
        (&["--code", ""], b"", "the script is empty", "belljar run --help"),
    ] {
        let arguments = [&["run"], arguments].concat();
        let answer = fed(&terminal, &arguments, stdin);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{arguments:?}: {answer:#?}");
        assert!(answer.stderr.starts_with(&format!("error: {message}\nhint: {hint}")), "{arguments:?}: {answer:#?}");

        let answer = fed(&terminal, &[arguments.as_slice(), &["--json"]].concat(), stdin);
        assert_refused(&answer, message, hint);
    }
}

#[test]
fn a_script_that_is_too_long_is_not_read_to_its_end() {
    let terminal = Terminal::new();
    let long = terminal.file("long.ts", vec![b'/'; 1024 * 1024 + 1]);
    let hint = "pass data through tools";
    let answer = terminal.belljar(&["run", "--json", long.to_str().unwrap()]);
    assert_refused(&answer, "more than 1048576 bytes", hint);
    let endless = std::fs::File::open("/dev/zero").unwrap();
    let answer = Answer::of(terminal.command(&["run", "--json", "-"]).stdin(endless).output().unwrap());
    assert_refused(&answer, "stdin has more than 1048576 bytes", hint);
}

/// Exit code 2, and one outcome of the kind `usage` on stdout.
fn assert_refused(answer: &Answer, message: &str, hint: &str) {
    assert_eq!((answer.code, answer.stderr.as_str()), (2, ""), "{answer:#?}");
    let outcome = answer.json();
    assert_eq!(keys(&outcome), REFUSED);
    assert_eq!((&outcome["ok"], &outcome["error"]["kind"]), (&json!(false), &json!("usage")), "{outcome:#}");
    let text = |key: &str| outcome["error"][key].as_str().unwrap_or_else(|| panic!("no {key}: {outcome:#}")).to_owned();
    assert!(text("message").contains(message), "{outcome:#}\nshould say: {message}");
    assert!(text("hint").contains(hint), "{outcome:#}\nshould hint: {hint}");
}

#[test]
fn wrong_usage_prints_an_outcome_too_where_json_was_asked_for() {
    let terminal = Terminal::new();
    for (arguments, message, hint) in [
        (["run", "--no-such-flag"].as_slice(), "unexpected argument '--no-such-flag'", "belljar --help"),
        (&["run", "--compte", "1s"], "unexpected argument '--compte'", "'--compute'"),
        (&["run", "--code", "1", "--timeout", "soon"], "invalid value 'soon' for '--timeout", "--help"),
        (&["run", "--code", "1", "--timeout", "soon"], r#"write it like "30s", "500ms" or "2m""#, "--help"),
        (&["run", "--code", "1", "--memory", "much"], "invalid value 'much' for '--memory", "--help"),
        (&["run", "--code", "1", "--fuel", "-1"], "'-1'", "--"),
        (&["run", "script.ts", "--code", "1"], "cannot be used with", "--help"),
        (&["runn"], "unrecognized subcommand 'runn'", "'run'"),
        (&["call"], "<SERVER.TOOL>", "--help"),
        (&["call", "demo"], "'demo' is not a tool path: write SERVER.TOOL", "--help"),
        (&["search", "--detail", "much"], "unknown detail 'much': it is one of names, brief, full", "--help"),
        (&["search", "--effect", "magic"], "invalid value 'magic' for '--effect", "--help"),
        (&["search", "--limit", "few"], "invalid value 'few' for '--limit", "--help"),
    ] {
        assert_refused(&terminal.belljar(&[arguments, &["--json"]].concat()), message, hint);
        let answer = terminal.belljar(arguments);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{arguments:?}: {answer:#?}");
        assert!(answer.stderr.starts_with("error: ") && answer.stderr.contains(message), "{arguments:?}: {answer:#?}");
    }
}

#[test]
fn each_limit_of_the_command_line_takes_effect_under_its_own_name() {
    const LOOP: &str = "while (true) {}";
    const GROW: &str = "const all = []; while (true) all.push('x'.repeat(100_000) + all.length);";
    const CALL: &str = "for (let n = 0; n < 5; n++) await demo.list_projects();";
    const TOGETHER: &str = "await Promise.all([1, 2, 3].map(() => demo.list_projects()));";
    const WAIT: &str = "await new Promise((done) => setTimeout(done, 60_000));";
    let terminal = Terminal::new();
    for (option, value, script, kind, name, max, unit) in [
        ("--timeout", "2s", WAIT, "timeout", "timeout", 2000, "ms"),
        ("--compute", "2s", LOOP, "timeout", "compute", 2000, "ms"),
        ("--fuel", "20000000", LOOP, "fuel", "fuel", 20_000_000, "fuel"),
        ("--memory", "16MiB", GROW, "memory", "memory", 16 * 1024 * 1024, "bytes"),
        ("--max-calls", "2", CALL, "calls", "max_calls", 2, "calls"),
        ("--wait", "200ms", WAIT, "timeout", "wait", 200, "ms"),
        ("--max-concurrent-calls", "2", TOGETHER, "calls", "max_concurrent_calls", 2, "calls"),
        ("--max-output", "1KiB", "'x'.repeat(2000)", "output", "max_output", 1024, "bytes"),
    ] {
        let script = format!("console.log('begun'); {script}");
        let answer = terminal.belljar(&["run", "--json", option, value, "--code", &script]);
        assert_eq!((answer.code, answer.stderr.as_str()), (1, ""), "{option}: {answer:#?}");
        let outcome = answer.json();
        let (error, limit) = (&outcome["error"], &outcome["error"]["limit"]);
        assert_eq!(error["kind"], kind, "{option}: {error:#}");
        assert_eq!(keys(limit), ["name", "max", "used", "unit"], "{option}: {error:#}");
        assert_eq!((&limit["name"], &limit["max"], &limit["unit"]), (&json!(name), &json!(max), &json!(unit)));
        assert!(limit["used"].as_u64().unwrap() >= max, "{option}: {error:#}");
        assert!(error["message"].is_string() && error["hint"].is_string(), "{option}: {error:#}");
        assert_eq!(outcome["logs"][0]["text"], "begun", "{option}: {outcome:#}");
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let limits =
        "--timeout 2m --compute 1min --fuel 1000000000 --memory 64MB --max-calls 1 --max-output 1kB --no-daemon";
    let limits: Vec<&str> = limits.split(' ').collect();
    let run = ["run", "--code", "(await demo.list_projects()).projects.length"];
    let answer = Terminal::new().belljar(&[run.as_slice(), &limits].concat());
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "3\n"), "{answer:#?}");
}

#[test]
pub(crate) fn no_control_character_of_a_script_reaches_a_stream_raw() {
    const NASTY: &str = "'\\u001b[2J\\u009b1m\\r\\u0007\\u202e'";
    let terminal = Terminal::new();
    for script in [
        "return NASTY",
        "return { [NASTY]: [NASTY] }",
        "console.log(NASTY); console.error({ a: NASTY })",
        "throw new Error(NASTY)",
        "throw NASTY",
        "demo[NASTY]({})",
        "await demo.get_issue({ id: 40, [NASTY]: NASTY })",
        "await demo.list_issues({ project: NASTY })",
        // Unescaped in the source, and so in the code frame.
        "const text = '\u{9b}1m\u{202e}\u{7f}';\nthrow new Error(text)",
    ] {
        let script = script.replace("NASTY", NASTY);
        for json in [&[][..], &["--json"]] {
            let answer = terminal.belljar(&[&["run", "--code", script.as_str()], json].concat());
            for output in [&answer.stdout, &answer.stderr] {
                let is_raw = |character: char| {
                    (character.is_control() && !matches!(character, '\n' | '\t')) || character == '\u{202e}'
                };
                assert!(!output.contains(is_raw), "{script}: {output:?}");
            }
        }
    }
    // They are shown as escapes, but a program gets the exact value.
    let value = terminal.belljar(&["run", "--json", "--code", &format!("return {NASTY}")]).json()["value"].take();
    assert_eq!(value, "\u{1b}[2J\u{9b}1m\r\u{7}\u{202e}");
    let answer = terminal.belljar(&["run", "--code", &format!("return {NASTY}")]);
    assert_eq!(answer.stdout, "\\u{1b}[2J\\u{9b}1m\\r\\u{7}\\u{202e}\n");
}

const COLOURFUL: [&[&str]; 4] = [
    &["run", "--code", "console.warn('careful'); await demo.get_issue({ id: 4711 })"],
    &["servers"],
    &["run", "missing.ts"],
    &["run", "--no-such-flag"],
];

#[test]
fn colours_go_to_no_pipe_unless_they_are_forced_and_never_where_they_are_unwanted() {
    let terminal = Terminal::new();
    for arguments in COLOURFUL {
        for (variables, expected) in [
            (&[][..], false),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], false),
            (&[("CLICOLOR_FORCE", "1")], true),
            (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ] {
            let mut command = terminal.command(arguments);
            command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
            let answer = Answer::of(command.envs(variables.iter().copied()).output().unwrap());
            let is_coloured = [&answer.stdout, &answer.stderr].into_iter().any(|output| output.contains('\u{1b}'));
            assert_eq!(is_coloured, expected, "{arguments:?} {variables:?}: {answer:#?}");
        }
    }
    // JSON is for programs, even if colours are forced.
    let mut command = terminal.command(&["run", "--json", "--code", "1"]);
    let answer = Answer::of(command.env("CLICOLOR_FORCE", "1").output().unwrap());
    assert!(!answer.stdout.contains('\u{1b}'), "{answer:#?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_colours_unless_it_does_not_want_them() {
    let terminal = Terminal::new();
    for arguments in COLOURFUL {
        for (name, value, expected) in [("TERM", "xterm", true), ("NO_COLOR", "1", false), ("TERM", "dumb", false)] {
            let quoted: Vec<String> =
                arguments.iter().map(|argument| format!("'{}'", argument.replace('\'', "\""))).collect();
            // From util-linux: runs a command on its own terminal.
            let mut script = Command::new("script");
            script.args(["-qec", &format!("'{}' {}", belljar().display(), quoted.join(" ")), "/dev/null"]);
            script.current_dir(&terminal.folder).env("XDG_CONFIG_HOME", terminal.folder.path()).env("TERM", "xterm");
            script.env("HOME", terminal.folder.path()).env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
            script.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CI").env(name, value);
            let output = script.stdin(Stdio::null()).output().expect("`script`, of the package util-linux, is missing");
            let shown = String::from_utf8_lossy(&output.stdout);
            // A spinner moves the cursor, which is not a colour.
            assert_eq!(shown.contains("\u{1b}[1m") || shown.contains("\u{1b}[3"), expected, "{name}={value}: {shown}");
        }
    }
}

#[test]
fn search_prints_the_keys_of_the_contract_at_each_level_of_detail() {
    let terminal = Terminal::new();
    let search = |arguments: &[&str]| {
        let answer = terminal.belljar(&[&["search", "--json"], arguments].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
        answer.json()
    };
    // Details beside the signature of one of the first tools are in `details`.
    let all = ["path", "server", "tool", "effect", "summary", "declaration", "details"];
    for (detail, expected) in [("names", &all[..4]), ("brief", &all[..]), ("full", &all[..6])] {
        let answer = search(&["issue", "comments", "--detail", detail]);
        assert_eq!(keys(&answer), ["results", "omitted", "unavailable"]);
        let first = &answer["results"][0];
        assert_eq!(keys(first), expected, "{detail}: {first:#}");
        assert_eq!(first["path"], format!("demo.{}", first["tool"].as_str().unwrap()));
    }
    let declaration = |detail: &str| {
        let answer = search(&["demo.get_issue", "--detail", detail]);
        assert_eq!(answer["results"][0]["tool"], "get_issue");
        answer["results"][0]["declaration"].as_str().unwrap().to_owned()
    };
    assert!(!declaration("brief").contains('\n'), "{}", declaration("brief"));
    assert!(declaration("full").contains("/**"), "{}", declaration("full"));

    let all = search(&[]);
    assert_eq!(all["results"].as_array().unwrap().len(), 7, "{all:#}");
    assert_eq!((&all["omitted"], &all["unavailable"]), (&json!(0), &json!([])));
    let some = search(&["--limit", "2"]);
    assert_eq!((some["results"].as_array().unwrap().len(), &some["omitted"]), (2, &json!(5)), "{some:#}");
    let mutating = search(&["--effect", "mutating"]);
    let tools: Vec<_> = mutating["results"].as_array().unwrap().iter().map(|found| &found["tool"]).collect();
    assert_eq!(tools, ["add_comment", "create_issue", "update_issue"]);
    let tight = search(&["--detail", "full", "--budget", "200"]);
    assert!(tight["omitted"].as_u64().unwrap() > 0 && tight.to_string().len() < 2_000, "{tight:#}");
}

#[test]
fn search_looks_at_one_server_alone_where_one_is_named() {
    let terminal = Terminal::new();
    let started = terminal.folder.path().join("started");
    let servers = json!({
        "other": { "command": "sh", "args": ["-c", ": > \"$0\"", started] },
        "demo": { "builtin": "demo" },
    });
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
    let search = ["search", "--json", "--config", config.to_str().unwrap(), "--server"];
    let answer = terminal.belljar(&[search.as_slice(), &["demo"]].concat()).json();
    assert_eq!((answer["results"].as_array().unwrap().len(), &answer["unavailable"]), (7, &json!([])), "{answer:#}");
    assert!(!started.exists(), "a server was started that was not asked for");
    let answer = terminal.belljar(&[search.as_slice(), &["demmo"]].concat()).json();
    assert_eq!(answer["results"], json!([]));
    assert!(answer["notes"][0].as_str().unwrap().contains("did you mean \"demo\"?"), "{answer:#}");
}

#[test]
fn call_takes_its_input_from_the_command_line_a_file_or_stdin() {
    let terminal = Terminal::new();
    terminal.file("input.json", "{\"id\": 40}");
    for (input, stdin) in [("{\"id\": 40}", ""), ("@input.json", ""), ("-", " {\"id\":\n40} ")] {
        let call = ["call", "demo.get_issue", "--input", input];
        let answer = fed(&terminal, &[call.as_slice(), &["--json"]].concat(), stdin);
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
        let answer = answer.json();
        assert_eq!(keys(&answer), ["ok", "run", "value", "error", "raw", "ms"]);
        assert_eq!((&answer["ok"], &answer["error"], &answer["value"]["id"]), (&json!(true), &Value::Null, &json!(40)));
        assert_eq!(answer["raw"]["structuredContent"], answer["value"]);
        assert!(answer["ms"].as_f64().unwrap() > 0.0);

        let answer = fed(&terminal, &call, stdin);
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
        let printed: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!(printed["title"], "Memory of the tile server doubles every week");
    }
}

#[test]
fn call_refuses_an_input_that_is_no_json_object() {
    let terminal = Terminal::new();
    terminal.file("latin1.json", b"{\"a\": \"\xe9\"}");
    let hint = "--input takes a JSON object, as in --input '{";
    for (input, message, hint) in [
        ("{\"id\": 40", "the input is not JSON: EOF", hint),
        ("id=40", "the input is not JSON: expected value at line 1 column 1", hint),
        ("", "the input is not JSON: EOF", hint),
        ("[40]", "the input is JSON, but not an object", hint),
        ("@missing.json", "missing.json does not exist", "name a file that holds JSON"),
        ("@.", ". is a directory", "name a file that holds JSON"),
        ("@latin1.json", "latin1.json is not UTF-8", "save it as UTF-8"),
        ("-", "the input is not JSON: EOF", hint),
    ] {
        let call = ["call", "demo.get_issue", "--input", input];
        assert_refused(&fed(&terminal, &[call.as_slice(), &["--json"]].concat(), ""), message, hint);
        let answer = fed(&terminal, &call, "");
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{input}: {answer:#?}");
        assert!(answer.stderr.contains(message) && answer.stderr.contains(hint), "{input}: {answer:#?}");
    }
}

#[test]
fn call_tells_a_wrong_name_from_a_tool_that_fails() {
    let terminal = Terminal::new();
    for (path, input, code, kind, message, hint) in [
        ("demo.get_isue", "{}", 2, "usage", "there is no tool 'demo.get_isue'", Some("did you mean demo.get_issue?")),
        (
            "demo.get_issue",
            "{\"id\": \"four\"}",
            2,
            "usage",
            "demo.get_issue: arguments.id: expected integer, found string \"four\"",
            Some("get_issue(args: {"),
        ),
        (
            "demo.frobnicate",
            "{}",
            2,
            "usage",
            "there is no tool 'demo.frobnicate'",
            Some("belljar search --server demo"),
        ),
        ("demmo.get_issue", "{}", 2, "usage", "there is no server 'demmo'", Some("did you mean demo?")),
        ("elsewhere.get", "{}", 2, "usage", "there is no server 'elsewhere'", Some("belljar servers")),
        ("demo.get_issue", "{\"id\": 4711}", 1, "tool", "there is no issue 4711; issues 1 to 42 exist", None),
    ] {
        let call = ["call", path, "--input", input];
        let answer = terminal.belljar(&[call.as_slice(), &["--json"]].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (code, ""), "{path}: {answer:#?}");
        let answer = answer.json();
        // A call that was refused before it was sent is not in the ledger.
        let run = (kind == "tool").then_some("run");
        let expected: Vec<&str> = ["ok"].into_iter().chain(run).chain(["value", "error", "raw", "ms"]).collect();
        assert_eq!(keys(&answer), expected);
        assert_eq!((&answer["ok"], &answer["value"]), (&json!(false), &Value::Null), "{answer:#}");
        assert_eq!((&answer["error"]["kind"], &answer["error"]["message"]), (&json!(kind), &json!(message)));
        let found = answer["error"].get("hint").map(|hint| hint.as_str().unwrap());
        assert!(found.is_some() == hint.is_some() && found.unwrap_or("").contains(hint.unwrap_or("")), "{answer:#}");
        // A tool's own error text is there, if there is one.
        assert_eq!(answer["raw"]["isError"] == true, kind == "tool", "{answer:#}");

        let answer = terminal.belljar(&call);
        assert_eq!((answer.code, answer.stdout.as_str()), (code, ""), "{path}: {answer:#?}");
        assert!(answer.stderr.starts_with(&format!("error: {message}\n")), "{path}: {answer:#?}");
        assert!(answer.stderr.contains(hint.unwrap_or("")), "{path}: {answer:#?}");
    }
}

#[test]
fn servers_prints_what_is_known_of_each_and_no_more() {
    let terminal = Terminal::new();
    let answer = terminal.belljar(&["servers", "--json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:#?}");
    let mut seen = answer.json();
    let uptime = seen["servers"][0].as_object_mut().unwrap().remove("uptime_ms");
    assert!(uptime.unwrap().is_u64());
    let version = seen["servers"][0].as_object_mut().unwrap().remove("version");
    assert!(version.unwrap().as_str().is_some_and(|version| version.contains('.')));
    let demo = json!({
        "name": "demo", "state": "ready", "transport": "built_in", "era": "2025-11-25", "tools": 7, "calls": 0, "restarts": 0,
    });
    assert_eq!(seen, json!({ "servers": [demo], "warnings": [] }));

    let child = crate::dead_children::child();
    let config = json!({ "mcpServers": {
        "kid": { "command": child, "args": ["echo"] },
        "dead": { "command": child, "args": ["exit"] },
    } });
    let config = terminal.file("mcp.json", config.to_string());
    let servers = ["servers", "--config", config.to_str().unwrap()];
    let answer = terminal.belljar(&[servers.as_slice(), &["--json"]].concat()).json();
    assert_eq!(
        keys(&answer["servers"][0]),
        ["name", "state", "transport", "era", "version", "tools", "pid", "uptime_ms", "calls", "restarts"]
    );
    assert_eq!(keys(&answer["servers"][1]), ["name", "state", "transport", "calls", "restarts", "last_error", "hint"]);
    assert!(answer["servers"][0]["pid"].as_u64().unwrap() > 1);

    let table = terminal.belljar(&servers).stdout;
    let words = |line: usize| table.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(0), ["NAME", "STATE", "TRANSPORT", "ERA", "TOOLS", "PID", "UP", "CALLS", "RESTARTS"]);
    assert_eq!(words(1)[..5], ["kid", "ready", "stdio", "2025-11-25", "3"]);
    assert_eq!(words(2), ["dead", "failing", "stdio", "-", "-", "-", "-", "0", "0"]);
}

#[test]
fn help_teaches_by_example_and_names_the_exit_codes() {
    let terminal = Terminal::new();
    for command in ["run", "serve", "search", "call", "servers"] {
        let answer = terminal.belljar(&[command, "--help"]);
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{command}: {answer:#?}");
        let text = answer.stdout;
        assert!(text.contains("Usage: belljar ") && text.contains("Example"), "{command}: {text}");
        assert!(text.contains("Exit code: 0") && text.contains("; 2 wrong usage or"), "{command}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{command}: {text}");
    }
    let text = terminal.belljar(&["--help"]).stdout;
    for part in ["Examples:", "Configuration: --config FILE, else $BELLJAR_CONFIG", "serve", "run script.ts"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

#[test]
fn the_examples_of_the_help_work_over_the_demo() {
    let terminal = Terminal::new();
    let mut tried = 0;
    for arguments in [["--help"].as_slice(), &["run", "--help"], &["search", "--help"], &["call", "--help"]] {
        let text = terminal.belljar(arguments).stdout;
        for line in text.lines().filter_map(|line| line.strip_prefix("  belljar ")) {
            // The others need servers and files that do not exist here.
            if line.contains("demo.") || line.starts_with("search ") {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("\"$0\" {line}")).arg(belljar()).current_dir(&terminal.folder);
                let answer = Answer::of(shell.env("XDG_CONFIG_HOME", terminal.folder.path()).output().unwrap());
                assert_eq!(answer.code, 0, "belljar {line}: {answer:#?}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 5, "only {tried} examples were found");
}

#[test]
fn a_newcomers_first_command_works_without_any_configuration() {
    let terminal = Terminal::new();
    let tour = repository().join("examples/tour.ts");
    let answer = terminal.belljar(&["run", tour.to_str().unwrap()]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let value: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(value["load"]["Ada"], 7);
    assert!(answer.stderr.contains("looked at 29 open issues of 3 projects; 4 are urgent"), "{answer:#?}");
}
