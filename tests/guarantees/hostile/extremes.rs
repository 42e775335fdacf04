//! The largest and the smallest numbers as limits, wherever they can be set, become a limit, or are
//! refused with the allowed range, and never cause a panic.

use serde_json::{Value, json};

use super::clients::Client;
use crate::{
    command_line::fed,
    support::{Answer, Terminal},
};

const DURATIONS: [&str; 4] = ["timeout", "compute", "wait", "call"];
const SIZES: [&str; 6] = ["memory", "max-source", "max-arguments", "max-result", "max-output", "max-logs"];
const COUNTS: [&str; 4] = ["fuel", "max-calls", "max-concurrent-calls", "max-log-lines"];
/// Durations that no clock can be advanced by, or that are longer than the maximum.
const TOO_LONG: [&str; 4] =
    ["18446744073709551615s", "18446744073709551616s", "584542046090years 7months", "30days 1ns"];
const SHORT_ENOUGH: [&str; 3] = ["30days", "1ns", "0s"];
const NUMBERS: [&str; 5] = ["18446744073709551615", "9223372036854775808", "4294967296", "1", "0"];
const CODE: &str = "console.log('x'); return typeof await demo.list_projects({})";

fn did_not_panic(answer: &Answer, context: &str) {
    assert!(!answer.stderr.contains("panicked"), "{context}: {answer:#?}");
    assert!((0..=2).contains(&answer.code), "{context}: {answer:#?}");
}

#[test]
pub(crate) fn extreme_limits_on_the_command_line_are_limits_or_refused() {
    let terminal = Terminal::new();
    let run = |flag: &str, value: &str| {
        let answer = terminal.belljar(&["run", "--json", &format!("--{flag}={value}"), "--code", CODE]);
        did_not_panic(&answer, &format!("--{flag}={value}"));
        answer
    };
    for flag in DURATIONS {
        for value in TOO_LONG {
            let answer = run(flag, value);
            assert_eq!(answer.code, 2, "--{flag}={value}: {answer:#?}");
            let message = answer.json()["error"]["message"].to_string();
            assert!(message.contains("30 days"), "--{flag}={value}: {message}");
        }
        for value in SHORT_ENOUGH {
            assert_ne!(run(flag, value).code, 2, "--{flag}={value}");
        }
    }
    for (flag, value) in SIZES.iter().chain(&COUNTS).flat_map(|flag| NUMBERS.map(|value| (flag, value))) {
        run(flag, value);
    }
    run("memory", "16EiB");
    run("memory", "18446744073709551616");
}

#[test]
pub(crate) fn extreme_limits_in_belljar_toml_are_limits_or_refused() {
    let terminal = Terminal::new();
    let server = "[servers.demo]\nbuiltin = 'demo'\n";
    let run = |text: &str| {
        let file = terminal.file("belljar.toml", text);
        let answer = terminal.belljar(&["run", "--json", "--config", file.to_str().unwrap(), "--code", CODE]);
        did_not_panic(&answer, text);
        answer
    };
    let places = ["[limits]\ntimeout", "[limits]\ncall", "[runs]\nqueue_timeout", "[daemon]\nidle"];
    let of_server = ["idle", "call_timeout", "call_total", "start_timeout", "breaker.rest"];
    let lines = places.map(|place| format!("{server}{place}")).into_iter();
    for place in lines.chain(of_server.map(|key| format!("{server}{key}"))) {
        for value in TOO_LONG {
            let answer = run(&format!("{place} = '{value}'\n"));
            let message = answer.json()["error"]["message"].to_string();
            assert!(answer.code == 2 && message.contains("30 days"), "{place} = {value}: {answer:#?}");
        }
        let answer = run(&format!("{place} = '30days'\n"));
        assert_eq!(answer.code, 0, "{place}: {answer:#?}");
    }
    for key in ["memory", "fuel", "max_result", "max_output", "max_calls", "max_concurrent_calls", "max_log_lines"] {
        for value in NUMBERS {
            run(&format!("{server}[limits]\n{key} = {value}\n"));
        }
    }
    for key in ["max_live", "live_memory", "max_computing", "max_queued"] {
        for value in ["18446744073709551615", "4294967295", "1", "0"] {
            run(&format!("{server}[runs]\n{key} = {value}\n"));
        }
    }
    for key in ["max_calls", "concurrency", "max_response", "breaker.failures"] {
        for value in ["18446744073709551615", "1", "0"] {
            run(&format!("{server}{key} = {value}\n"));
        }
    }
}

#[test]
pub(crate) fn extreme_limits_of_a_client_are_limits_or_refused() {
    let terminal = Terminal::new();
    let mut client = Client::connected(terminal.command(&["serve"]));
    let mut ask = |limits: Value| {
        let outcome = client.outcome(CODE, &limits);
        assert!(outcome["ok"].is_boolean() && outcome["error"]["kind"] != "internal", "{limits}: {outcome:#}");
        outcome
    };
    for name in DURATIONS {
        for value in TOO_LONG {
            let outcome = ask(json!({ name: value }));
            assert_eq!(outcome["error"]["kind"], "usage", "{name} = {value}: {outcome:#}");
            assert!(outcome["error"]["message"].to_string().contains("30 days"), "{name} = {value}: {outcome:#}");
        }
        for value in SHORT_ENOUGH {
            ask(json!({ name: value }));
        }
    }
    for name in SIZES.iter().chain(&COUNTS).map(|name| name.replace('-', "_")) {
        for value in NUMBERS {
            ask(json!({ name.as_str(): value.parse::<u64>().unwrap() }));
        }
        ask(json!({ name.as_str(): -1 }));
        ask(json!({ name.as_str(): 1e300 }));
    }

    for milliseconds in [json!(u64::MAX), json!(u64::from(u32::MAX)), json!(0), json!(-1), json!(1e300)] {
        let constraints = json!({ "timeout_ms": milliseconds, "max_retries": milliseconds });
        let request =
            json!({ "intent": "QUERY", "action": "demo.list_projects", "params": {}, "constraints": constraints });
        let answer = fed(&Terminal::new(), &["request"], request.to_string());
        did_not_panic(&answer, &request.to_string());
        assert!(answer.json()["ok"].is_boolean(), "{answer:#?}");
    }
}
