//! What runs keep for later ones, as its owner sees it: in a list, in a search, in a file, and gone
//! when it is removed.

use std::{fs, path::Path};

use belljar_ledger::{
    Artifacts, Content, Holder, Ledger as _, NewArtifact, Options, SqliteArtifacts, SqliteLedger, Stored,
};
use belljar_model::{ArtifactSettings, JsonBounds, JsonText, LedgerKeep};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    ledger::{bytes_below, holds, state},
    support::Terminal,
};

const SECRET: &str = "xylophonesecret";

/// Stores as the gateway of another process does. The process then ends.
fn stored(terminal: &Terminal, holder: &Holder, artifacts: Vec<NewArtifact>) -> Vec<Stored> {
    stored_by(ArtifactSettings::default(), terminal, holder, artifacts)
}

fn stored_by(
    settings: ArtifactSettings,
    terminal: &Terminal,
    holder: &Holder,
    artifacts: Vec<NewArtifact>,
) -> Vec<Stored> {
    Runtime::new().unwrap().block_on(async {
        let (ledger, store) = store(&state(terminal), settings);
        let mut stored = Vec::new();
        for artifact in artifacts {
            stored.push(store.store(holder.clone(), artifact).await.unwrap());
        }
        ledger.close().await;
        stored
    })
}

fn store(folder: &Path, settings: ArtifactSettings) -> (SqliteLedger, SqliteArtifacts) {
    let ledger = SqliteLedger::new(Some(folder), Options { fsync: false, keep: LedgerKeep::default() });
    let artifacts = ledger.artifacts(settings);
    (ledger, artifacts)
}

fn holder(principal: Option<&str>, workspace: &str) -> Holder {
    Holder { principal: principal.map(Into::into), workspace: workspace.into() }
}

fn new(content: Content) -> NewArtifact {
    NewArtifact { content, name: None, mime: None, run: None, labels: Vec::new() }
}

fn value(value: &Value) -> NewArtifact {
    let bounds = JsonBounds::with_bytes(usize::MAX);
    new(Content::Value(JsonText::parse(value.to_string(), &bounds).unwrap()))
}

fn named(name: &str, artifact: NewArtifact) -> NewArtifact {
    NewArtifact { name: Some(name.parse().unwrap()), ..artifact }
}

fn json_of(terminal: &Terminal, arguments: &[&str]) -> Value {
    let answer = terminal.belljar(&[&["artifacts"], arguments, &["--json"]].concat());
    assert_eq!(answer.code, 0, "{answer:#?}");
    answer.json()
}

#[test]
fn the_owner_lists_reads_searches_exports_and_removes_what_runs_left() {
    let terminal = Terminal::new();
    let pages = json!({"pages": (0..50).map(|n| json!({"n": n, "body": format!("page{n} {}", "filler ".repeat(80))})).collect::<Vec<_>>()});
    let bytes = [0_u8, 159, 146, 150];
    let image = NewArtifact { mime: Some("image/png".to_owned()), ..new(Content::Blob(bytes.as_slice().into())) };
    let whose = holder(None, "/work/shop");
    let all = stored(&terminal, &whose, vec![named("pages", value(&pages)), image]);
    let (of_pages, of_image) = (all[0].id.to_string(), all[1].id.to_string());
    let workspace = ["--workspace", "/work/shop"];

    let listed = json_of(&terminal, &[&["list"], workspace.as_slice()].concat());
    let ids: Vec<&Value> = listed["artifacts"].as_array().unwrap().iter().map(|entry| &entry["id"]).collect();
    assert_eq!(ids, [&json!(of_image), &json!(of_pages)]);
    assert_eq!(listed["artifacts"][1]["name"], "pages");
    assert_eq!(listed["artifacts"][1]["bytes"], pages.to_string().len());
    let table = terminal.belljar(&[&["artifacts", "list"], workspace.as_slice()].concat()).stdout;
    assert!(table.contains(&of_pages) && table.contains("image/png") && table.contains("pages"), "{table}");
    assert_eq!(json_of(&terminal, &["list"])["artifacts"], json!([]), "another workspace");
    let everywhere = json_of(&terminal, &["list", "--all-workspaces"]);
    assert_eq!(everywhere["artifacts"][0]["workspace"], "/work/shop");

    let found = json_of(&terminal, &[&["search", "page17", "filler"], workspace.as_slice()].concat());
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!((&found["hits"][0]["artifact"], &found["hits"][0]["pointer"]), (&json!(of_pages), &json!("/pages/17")));
    let within =
        json_of(&terminal, &[&["search", "filler", "--in", "pages", "--limit", "3"], workspace.as_slice()].concat());
    assert_eq!(within["hits"].as_array().unwrap().len(), 3);
    assert_eq!(json_of(&terminal, &["search", "filler"])["hits"], json!([]));

    for which in ["pages", &of_pages] {
        let got = terminal.belljar(&[&["artifacts", "get", which], workspace.as_slice()].concat());
        assert_eq!((got.code, got.json()), (0, pages.clone()));
    }
    let blob = terminal.belljar(&[&["artifacts", "get", &of_image, "--json"], workspace.as_slice()].concat());
    assert_eq!((blob.code, blob.stdout.contains("export")), (2, true), "{blob:#?}");
    let out = terminal.folder.path().join("image.png");
    let export = [&["artifacts", "export", &of_image, "--out", out.to_str().unwrap()], workspace.as_slice()].concat();
    assert_eq!(terminal.belljar(&export).code, 0);
    assert_eq!(fs::read(&out).unwrap(), bytes);
    assert_eq!(terminal.belljar(&export).code, 2, "no file is overwritten");

    assert_eq!(json_of(&terminal, &[&["rm", &of_image], workspace.as_slice()].concat())["removed"], 1);
    let gone = terminal.belljar(&[&["artifacts", "get", &of_image], workspace.as_slice()].concat());
    assert_eq!((gone.code, gone.stderr.contains("there is no artifact")), (1, true), "{gone:#?}");
    assert_eq!(json_of(&terminal, &["rm", "--all", "--all-workspaces"])["removed"], 1);
    assert_eq!(json_of(&terminal, &["list", "--all-workspaces"])["artifacts"], json!([]));
    for wrong in
        [&["rm"][..], &["rm", "x", "--all"], &["rm", "x", "--all-workspaces"], &["search"], &["export", "x"], &["get"]]
    {
        assert_eq!(terminal.belljar(&[&["artifacts"], wrong].concat()).code, 2, "{wrong:?}");
    }
}

#[test]
fn no_id_or_word_shows_what_another_principal_has() {
    let terminal = Terminal::new();
    let workspace = "/work";
    let of_ada = stored(&terminal, &holder(Some("ada"), workspace), vec![named("notes", value(&json!({"a": SECRET})))]);
    stored(&terminal, &holder(None, workspace), vec![named("own", value(&json!({"a": "common"})))]);
    let id = of_ada[0].id.to_string();
    let never = "a_0000000000000";
    let told = |which: &str| {
        let answer = terminal.belljar(&["artifacts", "get", which, "--workspace", workspace]);
        assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{answer:#?}");
        answer.stderr.replace(which, "ID")
    };
    assert_eq!(told(&id), told(never), "it is not told from one that never was");
    assert_eq!(json_of(&terminal, &["search", SECRET, "--workspace", workspace])["hits"], json!([]));
    let of_her = json_of(&terminal, &["search", SECRET, "--workspace", workspace, "--principal", "ada"]);
    assert_eq!(of_her["hits"].as_array().unwrap().len(), 1, "the owner of the machine can name her");
}

#[test]
fn a_purge_leaves_nothing_of_them_on_the_disk_and_doctor_counts_what_there_is() {
    let terminal = Terminal::new();
    let text = new(Content::Text(format!("{SECRET} and more\n").repeat(2000).into()));
    stored(&terminal, &holder(None, "/work"), vec![text]);
    assert_eq!(json_of(&terminal, &["search", SECRET, "--workspace", "/work"])["hits"].as_array().unwrap().len(), 10);
    let doctor = terminal.belljar(&["doctor", "--no-daemon", "--json"]).json();
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["what"] == "artifacts").unwrap();
    assert_eq!(check["state"], "good");
    assert!(check["found"].as_str().unwrap().starts_with("1 artifact in 1 workspace, "), "{check}");
    assert!(holds(&bytes_below(&state(&terminal)), SECRET), "this is where it is kept");
    let purged = terminal.belljar(&["runs", "purge", "--all"]);
    assert_eq!(purged.code, 0, "{purged:#?}");
    assert!(!holds(&bytes_below(&state(&terminal)), SECRET));
    assert!(!holds(&bytes_below(&state(&terminal)), &SECRET[..6]), "nor in an index");
}

#[test]
fn the_configuration_says_how_long_they_stay() {
    let terminal = Terminal::new();
    for (days, text) in [(1, "short"), (30, "long")] {
        let settings = ArtifactSettings { days, ..ArtifactSettings::default() };
        stored_by(settings, &terminal, &holder(None, "/work"), vec![named(text, value(&json!(text)))]);
    }
    let connection = Connection::open(state(&terminal).join("ledger.db")).unwrap();
    connection.execute("UPDATE artifacts SET used_ms = used_ms - 172800000", []).unwrap();
    drop(connection);
    // What counts is the configuration that stored it, not the one that reads it.
    let config = terminal.folder.path().join("1.toml");
    fs::write(&config, "[artifacts]\ndays = 1\n").unwrap();
    let config = ["--config", config.to_str().unwrap()];
    assert_eq!(terminal.belljar(&[&["runs", "purge"], config.as_slice()].concat()).code, 0);
    let listed = json_of(&terminal, &[&["list", "--workspace", "/work"], config.as_slice()].concat());
    let names: Vec<&Value> = listed["artifacts"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["long"]);
    let wrong = terminal.folder.path().join("wrong.toml");
    fs::write(&wrong, "[artifacts]\ndays = 0\n").unwrap();
    let refused = terminal.belljar(&["artifacts", "list", "--config", wrong.to_str().unwrap()]);
    assert_eq!((refused.code, refused.stderr.contains("'artifacts.days' must be a whole number above 0")), (2, true));
}

#[test]
fn a_damaged_ledger_is_an_error_that_says_what_to_do() {
    let terminal = Terminal::new();
    stored(&terminal, &holder(None, "/work"), vec![named("x", value(&json!("words")))]);
    let path = state(&terminal).join("ledger.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes.iter_mut().skip(100).for_each(|byte| *byte ^= 0x5a);
    fs::write(&path, bytes).unwrap();
    for name in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = fs::remove_file(state(&terminal).join(name));
    }
    for arguments in [&["list"][..], &["get", "x"], &["search", "words"], &["rm", "x"], &["rm", "--all"]] {
        let answer = terminal.belljar(&[&["artifacts"], arguments, &["--workspace", "/work"]].concat());
        assert_eq!((answer.code, answer.stderr.contains("damaged")), (3, true), "{arguments:?}: {answer:#?}");
    }
}
