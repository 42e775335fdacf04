//! A child server gets a small environment, proxies and certificates, and what the owner names.
//! belljar reports the names of variables that it does not get.

use std::{fs, process::Command};

use serde_json::{Value, json};

use crate::{
    daemon::Shell,
    dead_children::child,
    support::{Answer, Terminal},
};

/// The owner's shell: behind a proxy, with a certificate of the company's, and with secrets.
fn in_this_shell(mut command: Command) -> Answer {
    // The environment of the test itself does not count.
    let others =
        ["HTTP", "http", "ALL_", "all_", "CARGO", "RUSTUP", "NODE", "NPM", "npm", "NVM", "UV", "PIP", "PYTHON"];
    for (name, _) in std::env::vars().filter(|(name, _)| others.iter().any(|start| name.starts_with(start))) {
        command.env_remove(name);
    }
    command
        .env("HTTPS_PROXY", "http://proxy.internal:3128")
        .env("https_proxy", "http://ada:sesame@proxy.internal:3128")
        .env("NO_PROXY", "localhost")
        .env("SSL_CERT_FILE", "/etc/company.pem")
        .env("REQUESTS_CA_BUNDLE", "/etc/company.pem")
        .env("UV_INDEX_URL", "https://ada:sesame@pypi.internal/simple")
        .env("npm_config_registry", "https://npm.internal/?token=sesame")
        .env("AWS_SECRET_ACCESS_KEY", "sesame");
    Answer::of(command.output().unwrap())
}

fn config(terminal: &Terminal, more: &str, mode: &str) -> String {
    let text = format!("{more}\n[servers.kid]\ncommand = {:?}\nargs = [{mode:?}]\n", child().to_str().unwrap());
    terminal.file("belljar.toml", text).to_str().unwrap().to_owned()
}

fn seen_by_child(more: &str) -> Value {
    let terminal = Terminal::new();
    let config = config(&terminal, more, "probe");
    let answer = in_this_shell(terminal.command(&["call", "kid.environment", "--json", "--config", &config])).json();
    assert_eq!(answer["ok"], true, "{answer:#}");
    answer["value"].clone()
}

#[test]
fn a_child_gets_proxies_without_a_password_and_certificates_and_no_other_settings() {
    let seen = seen_by_child("");
    assert_eq!(
        (&seen["HTTPS_PROXY"], &seen["NO_PROXY"], &seen["SSL_CERT_FILE"], &seen["REQUESTS_CA_BUNDLE"]),
        (
            &json!("http://proxy.internal:3128"),
            &json!("localhost"),
            &json!("/etc/company.pem"),
            &json!("/etc/company.pem")
        ),
        "{seen:#}"
    );
    for name in ["https_proxy", "UV_INDEX_URL", "npm_config_registry", "AWS_SECRET_ACCESS_KEY"] {
        assert_eq!(seen[name], Value::Null, "{name}: {seen:#}");
    }
}

#[test]
fn the_owner_names_what_children_get_beside_that() {
    let seen = seen_by_child("[children]\ninherit = [\"UV_*\", \"npm_config_registry\", \"*_proxy\"]");
    assert_eq!(seen["UV_INDEX_URL"], "https://ada:sesame@pypi.internal/simple", "{seen:#}");
    assert_eq!(seen["npm_config_registry"], "https://npm.internal/?token=sesame", "{seen:#}");
    // A pattern does not reach a password in a proxy, and nothing reaches what is not named.
    assert_eq!((&seen["https_proxy"], &seen["AWS_SECRET_ACCESS_KEY"]), (&Value::Null, &Value::Null), "{seen:#}");
    let seen = seen_by_child("[children]\ninherit = [\"https_proxy\"]");
    assert_eq!(seen["https_proxy"], "http://ada:sesame@proxy.internal:3128", "{seen:#}");
}

#[test]
fn a_start_that_fails_names_what_the_child_did_not_get_and_no_value() {
    let terminal = Terminal::new();
    let config = config(&terminal, "", "exit");
    for arguments in [
        &["call", "kid.x", "--json", "--config", &config][..],
        &["servers", "--json", "--config", &config],
        &["doctor", "--json", "--config", &config],
    ] {
        let answer = in_this_shell(terminal.command(arguments));
        let told = answer.stdout.clone() + &answer.stderr;
        for part in [
            "it did not get https_proxy (it has a user or password in it)",
            "UV_INDEX_URL",
            "npm_config_registry",
            "'inherit' of [children]",
        ] {
            assert!(told.contains(part), "{arguments:?}: {told}");
        }
        assert!(!told.contains("sesame") && !told.contains("AWS_SECRET"), "{arguments:?}: {told}");
    }
}

#[test]
fn another_proxy_has_a_daemon_of_its_own() {
    let shell = Shell::new(&json!({ "kid": { "command": child(), "args": ["probe"] } }));
    let with = |proxy: &str, arguments: &[&str]| {
        let mut command = shell.command(arguments);
        command.env("HTTPS_PROXY", proxy);
        Answer::of(command.output().unwrap())
    };
    let seen = |proxy: &str| {
        let answer = with(proxy, &["call", "kid.environment", "--json"]).json();
        assert_eq!(answer["value"]["HTTPS_PROXY"], proxy, "{answer:#}");
    };
    let pid = |proxy: &str| with(proxy, &["daemon", "status", "--json"]).json()["pid"].clone();
    let (one, other) = ("http://one:1", "http://other:2");
    seen(one);
    seen(other);
    // The first has kept its own.
    seen(one);
    assert_ne!(pid(one), pid(other));
    for proxy in [one, other] {
        assert_eq!(with(proxy, &["daemon", "stop"]).code, 0);
    }
}

#[test]
fn doctor_names_the_packages_whose_version_nothing_fixes_and_how_to_pin_them() {
    let terminal = Terminal::new();
    let home = terminal.folder.path();
    let cached = home.join(".npm/_npx/0a1b/node_modules/@scope/server");
    fs::create_dir_all(&cached).unwrap();
    fs::write(cached.join("package.json"), r#"{"name": "@scope/server", "version": "1.4.2"}"#).unwrap();
    // These programs do not exist, so nothing is fetched.
    let server = |name: &str, program: &str, args: &[&str]| {
        format!("[servers.{name}]\ncommand = {:?}\nargs = {args:?}\n", home.join(program).to_str().unwrap())
    };
    let text = [
        server("cached", "npx", &["-y", "@scope/server@latest"]),
        server("python", "uvx", &["mcp-server-git"]),
        server("image", "docker", &["run", "-i", "mcp/github"]),
        server("pinned", "npx", &["-y", "@scope/server@1.4.2"]),
    ];
    let config = terminal.file("belljar.toml", text.concat());
    let command = terminal.command(&["doctor", "--json", "--config", config.to_str().unwrap()]);
    let found = in_this_shell(command).json();
    let checks = found["checks"].as_array().unwrap();
    let hint = |server: &str| {
        let what = format!("package of {server}");
        let check = checks.iter().find(|check| check["what"] == *what)?;
        assert_eq!(check["state"], "warning", "{check:#}");
        Some(check["hint"].as_str().unwrap().to_owned())
    };
    let cached = "pin it: write \"@scope/server@1.4.2\", which is the version in the cache";
    assert_eq!(hint("cached").as_deref(), Some(cached), "{found:#}");
    assert!(hint("python").unwrap().contains("\"mcp-server-git@VERSION\""), "{found:#}");
    assert!(hint("image").unwrap().contains("\"mcp/github@sha256:DIGEST\""), "{found:#}");
    assert_eq!(hint("pinned"), None, "{found:#}");
    let variables = checks.iter().find(|check| check["what"] == "environment of servers").unwrap();
    assert!(variables["found"].as_str().unwrap().contains("not https_proxy"), "{variables:#}");
    assert_eq!(variables["state"], "warning", "{variables:#}");
}
