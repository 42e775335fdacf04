//! What the owner approved is sent once, even if its server dies before it answers, and calls of
//! its tool may be repeated.

use serde_json::{Value, json};

use crate::{
    approvals_by_command::{Client, waiting},
    dead_children::child,
    support::Terminal,
};

/// A client's result of a call, whose server dies once before it answers, under rules.
fn answer_of(rules: &str) -> Value {
    let terminal = Terminal::new();
    let (child, died) = (child().display(), terminal.file("died", ""));
    std::fs::remove_file(&died).unwrap();
    let config = format!(
        "[approvals]\nallow_yes = true\n[servers.kid]\ncommand = '{child}'\nargs = ['crash-once', '{}']\n\
         trust_hints = true\nrepeat = 'read_only'\n",
        died.display()
    );
    let config = terminal.file("belljar.toml", config);
    terminal.file("policy.toml", rules);
    let mut client = Client::of(&terminal, config.to_str().unwrap(), json!({}));
    client.execute("return await kid.echo({ ms: 0 })");
    if rules.contains("'ask'") {
        let id = waiting(&terminal)["id"].take();
        let decided = terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]);
        assert_eq!(decided.code, 0, "{decided:?}");
    }
    let answer = client.receive()["result"]["structuredContent"].take();
    assert!(died.exists(), "the server has died once: {answer:#}");
    answer
}

#[test]
fn a_call_that_was_approved_is_not_repeated_where_its_server_dies() {
    let allowed = answer_of("default = 'allow'\n");
    assert!(allowed["error"].is_null(), "a call that nobody was asked about is made again: {allowed:#}");
    let approved = answer_of("default = 'allow'\n[[rule]]\nid = 'one'\ntools = 'kid.echo'\nthen = 'ask'\n");
    let said = approved["error"]["message"].as_str().unwrap_or_else(|| panic!("it was sent again: {approved:#}"));
    assert!(said.contains("died") || said.contains("exited") || said.contains("ended"), "{said}");
}
