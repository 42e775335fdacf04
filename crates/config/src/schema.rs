//! Checks that the JSON Schema of belljar.toml and its reader agree. (The schema itself is
//! maintained by hand, for its descriptions.)

use belljar_model::{LimitKind, LimitSpec};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    Format, approvals, artifacts, children, effects, hook, http,
    import::SCHEMA,
    keep, ledger, oauth, policy, projects, sandbox, server, skills,
    testing::toml,
    tree::{self, Node},
};

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).expect("the schema is one")
}

/// A TOML text in the form that the schema's validators see.
fn as_json(text: &str) -> Value {
    let Ok(root) = tree::parse(text, Format::Toml) else { panic!("no TOML: {text}") };
    value(root)
}

fn value(node: Node) -> Value {
    match node.value {
        tree::Value::Null | tree::Value::Date => panic!("nothing that JSON has"),
        tree::Value::Boolean(boolean) => boolean.into(),
        tree::Value::Number(number) => number.parse::<serde_json::Number>().expect("a number").into(),
        tree::Value::String(string) => string.into(),
        tree::Value::List(list) => list.into_iter().map(value).collect(),
        tree::Value::Table(entries) => entries.into_iter().map(|entry| (entry.key, value(entry.node))).collect(),
    }
}

/// The properties that the schema defines at a place.
fn properties(pointer: &str) -> Vec<String> {
    let schema = schema();
    let properties = schema.pointer(pointer).and_then(Value::as_object).expect("properties");
    let mut names: Vec<String> = properties.keys().cloned().collect();
    names.sort();
    names
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_schema_knows_the_keys_that_the_reader_knows_and_no_others() {
    assert_eq!(properties("/properties"), sorted(&crate::document::TOML_KEYS));
    assert_eq!(properties("/properties/limits/properties"), sorted(&belljar_model::LimitsPatch::NAMES));
    assert_eq!(properties("/properties/hook/items/properties"), sorted(hook::KEYS));
    assert_eq!(properties("/properties/ledger/properties"), sorted(ledger::KEYS));
    assert_eq!(properties("/properties/ledger/properties/keep/properties"), sorted(ledger::KEEP_KEYS));
    let redact = "/properties/ledger/properties/redact/items/properties";
    assert_eq!(properties(redact), sorted(ledger::REDACT_KEYS));
    assert_eq!(properties("/properties/policy/properties"), sorted(policy::KEYS));
    assert_eq!(properties("/properties/artifacts/properties"), sorted(artifacts::KEYS));
    assert_eq!(properties("/properties/skills/properties"), sorted(skills::KEYS));
    assert_eq!(properties("/properties/keep/properties"), sorted(keep::KEYS));
    assert_eq!(properties("/properties/approvals/properties"), sorted(approvals::KEYS));
    let webhook = "/properties/approvals/properties/webhook/properties";
    assert_eq!(properties(webhook), sorted(approvals::WEBHOOK_KEYS));
    assert_eq!(properties("/properties/children/properties"), sorted(children::KEYS));
    assert_eq!(properties("/properties/effects/properties"), sorted(effects::KEYS));
    for effect in effects::KEYS {
        let place = format!("/properties/effects/properties/{effect}/properties");
        assert_eq!(properties(&place), sorted(effects::EFFECT_KEYS));
    }
    assert_eq!(properties("/properties/http/properties"), sorted(http::KEYS));
    assert_eq!(properties("/properties/http/properties/oauth/properties"), sorted(http::OAUTH_KEYS));
    assert_eq!(properties("/definitions/server/properties"), sorted(server::KEYS));
    let project = "/definitions/server/properties/projects/additionalProperties/properties";
    assert_eq!(properties(project), sorted(projects::KEYS));
    let affected = "/definitions/server/properties/affected/additionalProperties/properties";
    assert_eq!(properties(affected), sorted(server::AFFECTED_KEYS));
    assert_eq!(properties("/definitions/server/properties/oauth/properties"), sorted(&oauth::KEYS));
    assert_eq!(properties("/definitions/server/properties/sandbox/properties"), sorted(sandbox::KEYS));
}

#[test]
fn the_schema_tells_each_limit_as_the_table_of_limits_does() {
    let expected = LimitSpec::ALL.iter().map(|spec| {
        let described = format!("{} ({}).", spec.summary, spec.default_text());
        let property = match spec.kind {
            LimitKind::Duration => json!({ "description": described, "allOf": [{ "$ref": "#/definitions/duration" }] }),
            LimitKind::Size => json!({ "description": described, "allOf": [{ "$ref": "#/definitions/size" }] }),
            LimitKind::Count => json!({ "description": described, "type": "integer", "minimum": 0 }),
        };
        (spec.name.as_str().to_owned(), property)
    });
    let expected = Value::Object(expected.collect());
    let found = schema().pointer("/properties/limits/properties").cloned().expect("limits");
    assert_eq!(found, expected, "belljar.schema.json should have:\n{expected:#}");
}

#[test]
fn what_the_reader_accepts_the_schema_accepts() {
    let validator = validator();
    let durations = ["30s", "500ms", "1m 30s", "2min", "1h", "1day", "100us"];
    let sizes = ["1", "64MiB", "1.5 GB", "10 kb", "7"];
    let mut texts: Vec<String> = vec![
        String::new(),
        "[limits]\n[servers]\n".to_owned(),
        "[policy]\nfile = 'rules.toml'\n".to_owned(),
        "[skills]\nfolders = ['a', '/b']\n".to_owned(),
        "[keep]\nenabled = true\nmax_bytes = '1MiB'\nmax_keys = 1\ndays = 30\n".to_owned(),
        "[artifacts]\nenabled = true\ninline = 1000\nmax_artifact = '1MiB'\nmax_bytes = '1GiB'\ndays = 1\n".to_owned(),
        "[effects.read_only]\ncall_timeout = '5s'\nrepeat = 'read_only'\n[effects.mutating]\nrepeat = 'idempotent'\n[effects.external]\n".to_owned(),
        "[children]\ninherit = ['UV_INDEX_URL', 'npm_config_*', 'ProgramFiles(x86)']\n".to_owned(),
        "[approvals]\nwait = '2h'\nallow_yes = true\n".to_owned(),
        "[approvals]\nwebhook = { url = 'https://x/y', secret = '0123456789abcdef', arguments = true }\n".to_owned(),
        "[http.oauth]\nissuer = 'https://x:8/y'\nresource = 'http://[::1]:9/mcp'\nscope_prefix = 'a/'\nallow_private = true\n".to_owned(),
        "[ledger]\nlevel = 'off'\nrequired = true\nfsync = false\nmax_recording = '1MiB'\nkeep = { days = 1, bytes = 5 }\nredact = [{ tools = '*', pointers = ['/a'] }]\n".to_owned(),
        "[servers.\"a b/é\"]\ncommand = 'x'\nargs = ['-y', '']\nenv = { A = '' }\ncwd = 'c'\ntype = 'stdio'\nera = 'discover'\n".to_owned(),
        "[servers.r]\nurl = 'HTTPS://x:8/y'\nheaders = { A-b = 'c' }\nproxy = 'http://u:p@proxy:3128'\noauth = { client_id = 'i', client_metadata = 'https://x/y', client_secret = 's', scopes = ['a:b'], port = 1, allow_private = true }\ntype = 'sse'\n".to_owned(),
        "[servers.r]\nurl = '${NONE:-http://x}'\n".to_owned(),
        "[servers.d]\nbuiltin = 'demo'\neffects = { t = 'read_only' }\nidempotent = ['t']\nidempotency = { t = 'key' }\ntrust_hints = false\nasks = ['sampling', 'elicitation', 'roots']\n".to_owned(),
        "[servers.d]\ndisabled = true\n".to_owned(),
        "[servers.d]\nbuiltin = 'x'\nexclusive = true\naffected = { t = { files = ['/a/*/b'], symbols = [] } }\n".to_owned(),
        "[servers.s]\ncommand = 'x'\nwarm = true\nstateful = false\nidle = 'never'\nmax_calls = 7\nconcurrency = 1\nmax_response = '1MB'\n\
         call_timeout = '5s'\ncall_total = '1m'\nframing = 'lines'\nrepeat = 'read_only'\nbreaker = { failures = 2, rest = '9s' }\n\
         on_start = [{ tool = 'a', arguments = { b = [1] } }]\nkey = '{project}'\ninstances = 2\nshare = 'principal'\n\
         projects = { a = { path = 'x', languages = ['Go'], concerns = ['c'], hints = ['h'], default = true }, b = {} }\n\
         paths = { arguments = ['p'], roots = ['r'], denied = ['d'], guidance = 'g' }\ntargets = { start = '2s', first = '3s', warm = '100ms', errors = '0.5%' }\nresults = { t = '.a[] | {b}' }\n"
            .to_owned(),
        "[servers.s]\ncommand = 'x'\nidle = '90s'\nmax_calls = 'never'\nmax_response = 1000\n".to_owned(),
        "[servers.d]\ndisabled = false\nbuiltin = 'x'\n".to_owned(),
        include_str!("../../../examples/belljar.toml").to_owned(),
    ];
    texts.extend(
        durations.map(|text| {
            format!("[limits]\ntimeout = '{text}'\n[servers.x]\nbuiltin = 'x'\nstart_timeout = '{text}'\n")
        }),
    );
    texts.extend(sizes.map(|text| format!("[limits]\nmemory = '{text}'\nmax_logs = 5\nmax_calls = 3\n")));
    for text in texts {
        if let Err(message) = toml(&text) {
            panic!("the reader refuses {text:?}: {message}");
        }
        let errors: Vec<String> = validator.iter_errors(&as_json(&text)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "the schema refuses {text:?}: {errors:?}");
    }
}

#[test]
fn what_the_schema_refuses_the_reader_refuses() {
    let validator = validator();
    for text in [
        "server = 5\n",
        "[policy]\nfile = ''\n",
        "[policy]\nrules = []\n",
        "[keep]\nenabled = 'yes'\n",
        "[keep]\nmax_bytes = true\n",
        "[keep]\nmax_keys = 0\n",
        "[keep]\nmax_keys = 10001\n",
        "[keep]\ndays = 0\n",
        "[keep]\nkeys = 1\n",
        "[artifacts]\nenabled = 'yes'\n",
        "[artifacts]\ninline = true\n",
        "[artifacts]\ndays = 0\n",
        "[artifacts]\nsize = 1\n",
        "[skills]\nfolders = 'a'\n",
        "[skills]\nfolders = ['']\n",
        "[skills]\nfiles = []\n",
        "[servers.skills]\nbuiltin = 'x'\n",
        "[effects]\nreading = {}\n",
        "[effects.mutating]\nrepeat = 'read_only'\n",
        "[effects.external]\ncall_timeout = 5\n",
        "[children]\ninherit = 'A'\n",
        "[children]\ninherit = ['*']\n",
        "[children]\ninherit = ['A B']\n",
        "[approvals]\nwait = 5\n",
        "[approvals]\nyes = true\n",
        "[approvals]\nwebhook = { url = 'https://x/y' }\n",
        "[approvals]\nwebhook = { url = 'ftp://x/y', secret = '0123456789abcdef' }\n",
        "[http]\ntokens = []\n",
        "[http.oauth]\nissuer = 'https://x'\n",
        "[http.oauth]\nissuer = 'ftp://x'\nresource = 'https://x'\n",
        "[http.oauth]\nissuer = 'https://x'\nresource = 'https://x?a'\n",
        "[http.oauth]\nissuer = 'https://x'\nresource = 'https://x'\nscope_prefix = 'a b'\n",
        "[ledger]\nlevel = 'all'\n",
        "[ledger]\nkeep = { days = 0 }\n",
        "[ledger]\nredact = [{ tools = 'x' }]\n",
        "[ledger]\nredact = [{ tools = 'x', pointers = ['a'] }]\n",
        "[servers.s]\nbuiltin = 'x'\nidempotency = { t = 1 }\n",
        "[limits]\ntimeuot = '5s'\n",
        "[limits]\ntimeout = 'soon'\n",
        "[limits]\ntimeout = 30\n",
        "[limits]\nmemory = 'lots'\n",
        "[limits]\nmax_calls = 1.5\n",
        "[limits]\nmax_calls = -1\n",
        "[servers.'a.b']\nbuiltin = 'x'\n",
        "[servers.'']\nbuiltin = 'x'\n",
        "[servers.s]\n",
        "[servers.s]\ncommand = 'x'\nurl = 'http://x'\n",
        "[servers.s]\ncomand = 'x'\n",
        "[servers.s]\ncommand = ''\n",
        "[servers.s]\ncommand = 'x'\nargs = '-y'\n",
        "[servers.s]\ncommand = 'x'\nargs = [1]\n",
        "[servers.s]\ncommand = 'x'\nenv = { A = 1 }\n",
        "[servers.s]\ncommand = 'x'\nenv = { 'A=B' = 'x' }\n",
        "[servers.s]\ncommand = 'x'\nheaders = {}\n",
        "[servers.s]\nurl = 'http://x'\nargs = []\n",
        "[servers.s]\nurl = 'http://x'\nenv_file = '.env'\n",
        "[servers.s]\nurl = 'ftp://x'\n",
        "[servers.s]\nurl = 'http://x'\nheaders = { 'A B' = 'c' }\n",
        "[servers.s]\nurl = 'http://x'\noauth = { port = 0 }\n",
        "[servers.s]\nurl = 'http://x'\noauth = { client_metadata = 'http://x/y' }\n",
        "[servers.s]\nurl = 'http://x'\nproxy = 'socks5://x'\n",
        "[servers.s]\ncommand = 'x'\nproxy = 'http://x'\n",
        "[servers.s]\nurl = 'http://x'\noauth = { allow_private = 'yes' }\n",
        "[servers.s]\nurl = 'http://x'\noauth = { scopes = ['a b'] }\n",
        "[servers.s]\nurl = 'http://x'\noauth = { id = 'x' }\n",
        "[servers.s]\nbuiltin = 'x'\ntype = 'ws'\n",
        "[servers.s]\nbuiltin = 'x'\nera = '2026'\n",
        "[servers.s]\nbuiltin = 'x'\nstart_timeout = 5\n",
        "[servers.s]\nbuiltin = 'x'\neffects = { t = 'reads' }\n",
        "[servers.s]\nbuiltin = 'x'\naffected = { t = { files = ['a'] } }\n",
        "[servers.s]\nbuiltin = 'x'\naffected = { t = { file = [] } }\n",
        "[servers.s]\nbuiltin = 'x'\nidempotent = 't'\n",
        "[servers.s]\nbuiltin = 'x'\ntrust_hints = 'yes'\n",
        "[servers.s]\nbuiltin = 'x'\nasks = ['everything']\n",
        "[servers.s]\nbuiltin = 'x'\nasks = 'sampling'\n",
        "[servers.s]\nbuiltin = 'x'\ndisabled = 'yes'\n",
        "[servers.s]\nbuiltin = 'x'\nwarm = 1\n",
        "[servers.s]\nbuiltin = 'x'\nidle = 'soon'\n",
        "[servers.s]\nbuiltin = 'x'\nmax_calls = 0\n",
        "[servers.s]\nbuiltin = 'x'\nmax_response = 'big'\n",
        "[servers.s]\nbuiltin = 'x'\nrepeat = 'always'\n",
        "[servers.s]\nbuiltin = 'x'\nframing = 'http'\n",
        "[servers.s]\nbuiltin = 'x'\nshare = 'all'\n",
        "[servers.s]\nbuiltin = 'x'\nbreaker = { fails = 1 }\n",
        "[servers.s]\nbuiltin = 'x'\non_start = [{ arguments = {} }]\n",
        "[servers.s]\nbuiltin = 'x'\nkey = 'project'\n",
        "[servers.s]\nbuiltin = 'x'\ninstances = 2\n",
        "[servers.s]\nbuiltin = 'x'\npaths = { roots = 'x' }\n",
        "[servers.s]\nbuiltin = 'x'\ntargets = { warm = 100 }\n",
        "[servers.s]\nbuiltin = 'x'\nresults = { t = '' }\n",
        "[servers.s]\nbuiltin = 'x'\nresults = { t = 1 }\n",
        "[servers.s]\nbuiltin = 'x'\ntargets = { errors = '1' }\n",
        "[servers.s]\nbuiltin = 'x'\ntargets = { cold = '1s' }\n",
        "[[hook]]\ntools = 'a||b'\nsay = 'x'\n",
        "[[hook]]\ntools = 'a'\nsay = 'x'\nmode = 'wall'\n",
        "[[hook]]\ntools = 'a'\nsay = 'x'\nfiles = []\n",
        "[servers.s]\nbuiltin = 'x'\nkey = '{p}'\nprojects = {}\n",
        "[servers.s]\nbuiltin = 'x'\nkey = '{p}'\nprojects = { a = { path = '' } }\n",
        "[servers.s]\nbuiltin = 'x'\nkey = '{p}'\nprojects = { a = { hints = 'x' } }\n",
        "[servers.s]\nbuiltin = 'x'\nprojects = { a = {} }\n",
    ] {
        assert!(!validator.is_valid(&as_json(text)), "the schema accepts {text:?}");
        assert!(toml(text).is_err(), "the reader accepts {text:?}");
    }
}
