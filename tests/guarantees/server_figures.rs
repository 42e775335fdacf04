//! Measurements of servers are kept over restarts, shown to their owner, and compared with the
//! owner's targets.

use serde_json::{Value, json};

use crate::{
    daemon::{Shell, echo},
    dead_children::child,
    support::Terminal,
};

/// The figures of a server.
fn figures_of(told: &Value, name: &str) -> Value {
    let servers = told["servers"].as_array().unwrap_or_else(|| panic!("{told:#}"));
    servers.iter().find(|server| server["name"] == name).unwrap_or_else(|| panic!("no {name}: {told:#}")).clone()
}

/// How many starts, first calls and warm calls there were.
fn counts(figures: &Value) -> [u64; 3] {
    ["starts", "first_calls", "warm_calls"].map(|what| figures[what]["count"].as_u64().unwrap())
}

/// Whether times are there, positive, and in their order.
fn are_times(timing: &Value) -> bool {
    let time = |name: &str| timing[name].as_f64().unwrap_or_default();
    0.0 < time("p50_ms") && time("p50_ms") <= time("p95_ms") && time("p95_ms") <= time("max_ms")
}

#[test]
fn what_is_measured_of_a_server_is_kept_over_restarts_and_told_by_the_daemon_too() {
    let shell = Shell::new(&echo());
    let none = figures_of(&shell.json(&["servers", "--stats"]), "kid");
    assert_eq!(counts(&none), [0, 0, 0], "nothing is started: {none:#}");
    assert!(none["starts"].get("p50_ms").is_none() && none.get("targets").is_none(), "{none:#}");

    let script = "for (let i = 0; i < 4; i++) await kid.echo({ i }); try { await kid.fail({}); } catch {}";
    let ran = shell.json(&["run", "--code", script]);
    assert_eq!(ran["ok"], true, "{ran:#}");
    let told = shell.json(&["servers", "--stats"]);
    let first = figures_of(&told, "kid");
    assert_eq!((counts(&first), &told["days"]), ([1, 1, 4], &json!(7)), "{told:#}");
    assert!(["starts", "first_calls", "warm_calls"].iter().all(|what| are_times(&first[*what])), "{first:#}");
    assert_eq!((&first["tool_errors"], &first["errors"], &first["restarts"]), (&json!(1), &json!(0), &json!(0)));
    assert_eq!(figures_of(&shell.json(&["daemon", "status"]), "kid"), first);

    // When it is killed, it loses nothing that was reported.
    let pid = shell.daemon_pid().to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    assert!(belljar_testkit::is_gone_within(pid.parse().unwrap(), std::time::Duration::from_secs(10)));
    assert_eq!(figures_of(&shell.json(&["servers", "--stats"]), "kid"), first);
    // When it ends, it stores the last of its measurements.
    assert_eq!(shell.json(&["call", "kid.echo", "--input", "{}"])["ok"], true);
    assert!(shell.belljar(&["daemon", "stop"]).code == 0);
    let second = figures_of(&shell.json(&["servers", "--stats"]), "kid");
    assert_eq!(counts(&second), [2, 2, 4], "{second:#}");
    // Its list was on disk, so the call itself waited for the start. (A median is reported as the
    // end of its range.)
    let time = |what: &str, name: &str| second[what][name].as_f64().unwrap();
    assert!(time("first_calls", "max_ms") * 1.04 >= time("starts", "p50_ms"), "{second:#}");
    // What a command measures in its own process is added.
    assert_eq!(shell.json(&["call", "kid.echo", "--input", "{}", "--no-daemon"])["ok"], true);
    let third = shell.belljar(&["servers", "--stats"]);
    assert_eq!(third.code, 0, "{third:#?}");
    let line =
        |what: &str| third.stdout.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{third:#?}"));
    assert!(line("starts").split_whitespace().take(3).eq(["kid", "starts", "3"]), "{third:#?}");
    assert!(line("warm calls").contains(" 4 ") && line("error of a tool").contains('1'), "{third:#?}");
}

#[test]
fn deaths_breaker_trips_restarts_and_changes_of_instances_are_counted() {
    let shell = Shell::new(&json!({
        "dies": { "command": child(), "args": ["crash-on-call"], "breaker": { "failures": 2 } },
        "gone": { "command": "there-is-no-such-program" },
        "keyed": { "command": child(), "args": ["stateful"], "key": "{project}", "instances": 1 },
    }));
    for _ in 0..2 {
        assert_eq!(shell.json(&["call", "dies.echo", "--input", "{}"])["ok"], false);
    }
    assert_eq!(shell.json(&["call", "gone.x", "--input", "{}"])["ok"], false);
    for project in ["a", "b", "b", "a"] {
        let input = json!({ "project": project }).to_string();
        let called = shell.json(&["call", "keyed.count", "--input", &input]);
        assert_eq!(called["ok"], true, "{called:#}");
    }
    let told = shell.json(&["servers", "--stats"]);
    let dies = figures_of(&told, "dies");
    let counted = ["errors", "deaths", "breaker_trips", "restarts"].map(|what| dies[what].as_u64().unwrap());
    assert_eq!((counted, counts(&dies)), ([2, 2, 1, 1], [2, 0, 0]), "{dies:#}");
    assert!(figures_of(&told, "gone")["failed_starts"].as_u64() >= Some(1), "{told:#}");
    let keyed = figures_of(&told, "keyed");
    assert_eq!((&keyed["switches"], &keyed["displaced"]), (&json!(2), &json!(2)), "{keyed:#}");
    assert_eq!(counts(&keyed)[1..], [3, 1], "{keyed:#}");
}

#[test]
fn doctor_says_which_targets_are_missed_with_the_figure_and_how_often_it_was_measured() {
    let terminal = Terminal::new();
    let text = |warm: &str| {
        format!(
            "[servers.kid]\ncommand = {:?}\nargs = [\"echo\"]\n[servers.kid.targets]\nstart = \"19s\"\nwarm = \"{warm}\"\nerrors = \"1%\"\n",
            child().to_str().unwrap()
        )
    };
    let config = terminal.file("belljar.toml", text("1us"));
    let config = config.to_str().unwrap();
    let targets = || {
        let found = terminal.belljar(&["doctor", "--json", "--config", config]).json();
        assert_eq!(found["ok"], true, "a missed target is a warning: {found:#}");
        let checks = found["checks"].as_array().unwrap().clone();
        checks.into_iter().filter(|check| check["what"] == "targets of kid").collect::<Vec<_>>()
    };
    let said = |check: &Value| check["found"].as_str().unwrap().to_owned();
    let before = targets();
    assert!(before.iter().all(|check| check["state"] == "good") && before.len() == 3, "{before:#?}");
    assert!(said(&before[0]).contains("over 1 start in 7 days"), "{before:#?}");
    assert!(said(&before[1]).ends_with("not measured yet") && said(&before[2]).ends_with("not measured yet"));

    let script = "for (let i = 0; i < 11; i++) await kid.echo({ i })";
    assert_eq!(terminal.belljar(&["run", "--config", config, "--json", "--code", script]).json()["ok"], true);
    let after = targets();
    assert_eq!(after[1]["state"], "warning", "{after:#?}");
    let missed = said(&after[1]);
    assert!(missed.starts_with("missed: warm: 95 of 100 warm calls within 0.00 ms, measured "), "{missed}");
    assert!(missed.ends_with(" over 10 warm calls in 7 days") && after[1]["hint"].is_string(), "{missed}");
    assert!(said(&after[2]).ends_with("at most 1%, measured 0% over 11 calls in 7 days"), "{after:#?}");
    let told = terminal.belljar(&["servers", "--stats", "--json", "--config", config]).json();
    let warm = &figures_of(&told, "kid")["targets"][1];
    assert_eq!((&warm["name"], &warm["met"], &warm["samples"]), (&json!("warm"), &json!(false), &json!(10)));

    terminal.file("belljar.toml", text("19s"));
    assert!(targets().iter().all(|check| check["state"] == "good"));
}

#[test]
fn where_the_ledger_is_off_no_figure_is_kept_and_no_file_made() {
    let terminal = Terminal::new();
    let text = |level: &str| {
        format!(
            "[ledger]\nlevel = \"{level}\"\n[servers.kid]\ncommand = {:?}\nargs = [\"echo\"]\n",
            child().to_str().unwrap()
        )
    };
    let config = terminal.file("belljar.toml", text("off"));
    let config = config.to_str().unwrap();
    let starts = || {
        assert_eq!(terminal.belljar(&["run", "--config", config, "--json", "--code", "await kid.echo({})"]).code, 0);
        let told = terminal.belljar(&["servers", "--stats", "--json", "--config", config]).json();
        counts(&figures_of(&told, "kid"))[0]
    };
    let ledger = terminal.folder.path().join(".local/state/belljar/ledger.db");
    assert!(starts() == 0 && !ledger.exists());
    terminal.file("belljar.toml", text("calls"));
    assert!(starts() == 1 && ledger.exists());
}
