//! The shape of undeclared results is learned from calls, and shown the next time.

use serde_json::{Value, json};

use crate::{dead_children::child, support::Terminal};

/// A configuration with one child whose tools declare no result.
fn echoing(terminal: &Terminal) -> String {
    let servers = json!({ "kid": { "command": child(), "args": ["echo"] } });
    terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string()).to_str().unwrap().to_owned()
}

fn declaration(terminal: &Terminal, config: &str) -> String {
    let answer =
        terminal.belljar(&["search", "kid.echo", "--detail", "full", "--limit", "1", "--json", "--config", config]);
    answer.json()["results"][0]["declaration"].as_str().unwrap().to_owned()
}

#[test]
fn a_result_that_no_server_declares_is_known_after_a_call_in_every_place_that_describes_it() {
    let terminal = Terminal::new();
    let config = echoing(&terminal);
    assert!(declaration(&terminal, &config).ends_with("Promise<unknown>;\n}"), "nothing is known yet");

    let script = "await kid.echo({ n: 1, secret: 'swordfish', people: { 'ada@example.com': true } }); \
                  return (await tools.describe('kid.echo')).declaration";
    let run = terminal.belljar(&["run", "--json", "--config", &config, "--code", script]);
    let described = run.json()["value"].as_str().unwrap().to_owned();
    assert!(described.contains("Result type observed in 1 call; the server declares none."), "{described}");
    assert!(described.contains("n: number; "), "{described}");
    assert_eq!(declaration(&terminal, &config), described);

    let call = terminal.belljar(&["call", "kid.echo", "--input", r#"{"n": null, "more": [1]}"#, "--config", &config]);
    assert_eq!(call.code, 0, "{call:#?}");
    let later = declaration(&terminal, &config);
    assert!(later.contains("observed in 2 calls, last changed by call 2;"), "{later}");
    assert!(later.contains("n: number | null;"), "{later}");

    let kept = std::fs::read_to_string(terminal.folder.path().join(".local/state/belljar/shapes.json")).unwrap();
    assert!(kept.contains("\"secret\"") && !kept.contains("swordfish") && !kept.contains("ada"), "{kept}");
}

#[test]
fn a_corrupt_file_of_shapes_is_ignored_with_a_warning() {
    let terminal = Terminal::new();
    let config = echoing(&terminal);
    let folder = terminal.folder.path().join(".local/state/belljar");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("shapes.json"), "{ half").unwrap();
    let run = terminal.belljar(&["run", "--json", "--config", &config, "--code", "(await kid.echo({ n: 1 })).n"]);
    assert_eq!(run.json()["value"], Value::from(1), "{run:#?}");
    assert!(run.stderr.contains("shapes.json in the state folder is ignored: it holds no shapes"), "{run:#?}");
    assert!(declaration(&terminal, &config).contains("observed in 1 call;"));
}
