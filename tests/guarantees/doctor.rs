//! `belljar doctor` checks everything, and its exit code shows the result.

use serde_json::{Value, json};

use crate::{dead_children::child, support::Terminal};

fn check<'a>(found: &'a Value, what: &str) -> &'a Value {
    let checks = found["checks"].as_array().unwrap_or_else(|| panic!("{found:#}"));
    checks.iter().find(|check| check["what"] == what).unwrap_or_else(|| panic!("no {what} in {found:#}"))
}

#[test]
fn where_all_is_well_everything_is_good() {
    let answer = Terminal::new().belljar(&["doctor", "--json"]);
    let found = answer.json();
    assert_eq!((answer.code, &found["ok"]), (0, &json!(true)), "{found:#}");
    for what in ["configuration", "limits", "state folder", "cache folder", "daemon", "image", "server demo"] {
        assert_eq!(check(&found, what)["state"], "good", "{found:#}");
    }
    assert_eq!(check(&found, "server demo")["found"], "7 tools");
    assert_eq!(check(&found, "limits")["found"], "the defaults");
}

#[test]
fn a_server_that_does_not_start_is_bad_and_the_others_are_looked_at_all_the_same() {
    let terminal = Terminal::new();
    let text = format!(
        "[limits]\nmax_calls = 7\n[servers.gone]\ncommand = \"there-is-no-such-program\"\n[servers.kid]\ncommand = {:?}\nargs = [\"echo\"]\nasks = [\"sampling\"]\ntrust_hints = true\n",
        child().to_str().unwrap()
    );
    let config = terminal.file("belljar.toml", text);
    let answer = terminal.belljar(&["doctor", "--json", "--config", config.to_str().unwrap()]);
    let found = answer.json();
    assert_eq!((answer.code, &found["ok"]), (1, &json!(false)), "{found:#}");
    let gone = check(&found, "server gone");
    assert_eq!(gone["state"], "bad", "{gone:#}");
    assert!(
        gone["found"].as_str().unwrap().contains("there-is-no-such-program") && gone["hint"].is_string(),
        "{gone:#}"
    );
    assert_eq!(check(&found, "server kid")["state"], "good", "{found:#}");
    // What the owner allows it beyond the default.
    let trusted = "3 tools; may use the client's model; its hints are trusted";
    assert_eq!(check(&found, "server kid")["found"], trusted, "{found:#}");
    assert_eq!(check(&found, "limits")["found"], "max_calls = 7");
    let told = terminal.belljar(&["doctor", "--config", config.to_str().unwrap()]);
    assert_eq!(told.code, 1, "{told:#?}");
    assert!(told.stdout.lines().any(|line| line.starts_with("bad   server gone")), "{told:#?}");
}

#[test]
fn a_wrong_configuration_is_told_with_its_place_and_has_a_code_of_its_own() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[servers.fs]\ncomand = 'x'\n");
    let answer = terminal.belljar(&["doctor", "--json", "--config", config.to_str().unwrap()]);
    let found = answer.json();
    assert_eq!((answer.code, &check(&found, "configuration")["state"]), (2, &json!("bad")), "{found:#}");
    assert!(check(&found, "configuration")["found"].as_str().unwrap().contains("2:1"), "{found:#}");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_a_warning() {
    let terminal = Terminal::new();
    let file = terminal.file("file", "");
    let output = terminal.command(&["doctor", "--json"]).env("XDG_STATE_HOME", file).output().unwrap();
    let answer = crate::support::Answer::of(output);
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(check(&answer.json(), "state folder")["state"], "warning", "{answer:#?}");
}
