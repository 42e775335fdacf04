//! What happens to scripts when the ledger cannot be written: a read-only folder, a full disk,
//! locks that are never released, a file of a later belljar. They run, with a warning, unless the
//! owner said that the ledger is required.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};

use rusqlite::Connection;

use crate::{
    dead_children::without,
    ledger::state,
    support::{Answer, Terminal, belljar},
};

/// A call whose intent must be kept before it is sent.
const CALL: &str = "await demo.create_issue({ project: 'atlas', title: 'x' }); 2";
const REQUIRED: &str = "[ledger]\nrequired = true\n[servers.demo]\nbuiltin = 'demo'\n";

/// The results of a script if the ledger is not required, and if it is: the first with this
/// warning, the second an error.
fn runs_with_a_warning_and_not_where_it_is_required(terminal: &Terminal, said: &str, run: impl Fn(Command) -> Answer) {
    let answer = run(terminal.command(&["run", "--code", CALL]));
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "2\n"), "{answer:#?}");
    assert!(answer.stderr.contains(said) && answer.stderr.contains("is lost"), "{answer:#?}");

    terminal.file("belljar.toml", REQUIRED);
    let refused = run(terminal.command(&["run", "--config", "belljar.toml", "--json", "--code", CALL]));
    assert_eq!((refused.code, refused.json()["error"]["kind"].as_str()), (2, Some("config")), "{refused:#?}");
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("the script was not run") && message.contains(said), "{message}");
    assert!(!refused.json()["error"]["hint"].as_str().unwrap().is_empty());
}

fn output(mut command: Command) -> Answer {
    Answer::of(command.output().unwrap())
}

/// One run, so that there is a ledger.
fn with_a_ledger(terminal: &Terminal) {
    assert_eq!(terminal.belljar(&["run", "--code", "1"]).code, 0);
    assert!(state(terminal).join("ledger.db").exists());
}

#[test]
fn a_file_of_a_later_belljar_is_left_as_it_is() {
    let terminal = Terminal::new();
    with_a_ledger(&terminal);
    let path = state(&terminal).join("ledger.db");
    let later = Connection::open(&path).unwrap();
    later.execute_batch("PRAGMA user_version = 1000; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(later);
    let before = fs::read(&path).unwrap();
    runs_with_a_warning_and_not_where_it_is_required(&terminal, "has version 1000", output);
    let listed = terminal.belljar(&["runs"]);
    assert_eq!((listed.code, listed.stderr.contains("has version 1000")), (3, true), "{listed:#?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn locks_that_are_never_given_are_waited_for_in_bounds() {
    let terminal = Terminal::new();
    with_a_ledger(&terminal);
    // Holding the file like this keeps out readers too.
    let holder = Connection::open(state(&terminal).join("ledger.db")).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    runs_with_a_warning_and_not_where_it_is_required(&terminal, "is in use by another process", output);
    let listed = terminal.belljar(&["runs"]);
    assert_eq!((listed.code, listed.stderr.contains("is in use by another process")), (3, true), "{listed:#?}");
    drop(holder);
    let listed = terminal.belljar(&["runs", "--json"]).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed:#}");
}

#[test]
fn a_file_system_that_gives_no_locks_is_named_at_once() {
    for has_ledger in [false, true] {
        let terminal = Terminal::new();
        if has_ledger {
            with_a_ledger(&terminal);
        }
        let run = |command: Command| output(without("locks", &command));
        runs_with_a_warning_and_not_where_it_is_required(&terminal, "no file can be locked where the ledger", run);
        let answer = run(terminal.command(&["run", "--code", CALL]));
        assert!(
            answer.stderr.contains("No locks available") && answer.stderr.contains("XDG_STATE_HOME"),
            "{answer:#?}"
        );
        if has_ledger {
            let listed = run(terminal.command(&["runs"]));
            let is_named = listed.stderr.contains("no file can be locked");
            assert_eq!((listed.code, is_named), (3, true), "{listed:#?}");
            // When locks are released, everything is still there.
            let listed = terminal.belljar(&["runs", "--json"]).json();
            assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed:#}");
        }
    }
}

/// The user that root becomes, since root may write everywhere.
const NOBODY: u32 = 65_534;

/// Gives a folder and all in it to somebody.
fn give(path: &Path, owner: u32) {
    chown(path, Some(owner), Some(owner)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path(), owner));
    }
}

#[test]
fn a_folder_that_is_read_only_is_named() {
    for has_ledger in [false, true] {
        let terminal = Terminal::new();
        terminal.file("belljar.toml", REQUIRED);
        let folder = if has_ledger { state(&terminal) } else { terminal.folder.path().join(".local/state") };
        fs::create_dir_all(&folder).unwrap();
        if has_ledger {
            with_a_ledger(&terminal);
            for entry in fs::read_dir(&folder).unwrap() {
                let entry = entry.unwrap();
                let mode = if entry.file_type().unwrap().is_dir() { 0o500 } else { 0o400 };
                fs::set_permissions(entry.path(), Permissions::from_mode(mode)).unwrap();
            }
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
        let is_root = fs::metadata(terminal.folder.path()).unwrap().uid() == 0;
        if is_root {
            give(terminal.folder.path(), NOBODY);
        }
        let run = |mut command: Command| {
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            output(command)
        };
        let said = if has_ledger { "cannot be opened" } else { "cannot be used" };
        runs_with_a_warning_and_not_where_it_is_required(&terminal, said, run);
        let listed = run(terminal.command(&["runs", "--json"]));
        // Earlier entries can be read.
        let kept = if has_ledger { 1 } else { 0 };
        assert_eq!(listed.json()["runs"].as_array().map(Vec::len), Some(kept), "{listed:#?}");
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        if is_root {
            give(terminal.folder.path(), 0);
        }
    }
}

#[test]
fn a_disk_that_is_full_is_named() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", REQUIRED);
    let script = "
        mkdir .local && mount -t tmpfs -o size=1m,mode=700 none .local && \"$BELLJAR\" run --code 1 >first || exit 99
        dd if=/dev/zero of=.local/filler bs=4k 2>dd
        \"$BELLJAR\" run --code \"$CALL\" >out 2>err; echo $? >code
        \"$BELLJAR\" run --config belljar.toml --json --code \"$CALL\" >refused 2>>err; echo $? >refused_code
        \"$BELLJAR\" runs --json >runs 2>>err; true";
    // A disk of its own, visible to these commands only.
    let mut own_disk = Command::new("unshare");
    own_disk.args(["--mount", "--map-root-user", "sh", "-c", script]);
    let like = terminal.command(&[]);
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => own_disk.env(name, value),
            None => own_disk.env_remove(name),
        };
    }
    let answer = output({
        own_disk.current_dir(terminal.folder.path()).env("BELLJAR", belljar()).env("CALL", CALL);
        own_disk
    });
    assert_eq!(answer.code, 0, "no disk of its own can be had for this test: {answer:#?}");
    let read = |name: &str| fs::read_to_string(terminal.folder.path().join(name)).unwrap();
    assert_eq!((read("code").trim(), read("out").as_str()), ("0", "2\n"), "{}", read("err"));
    assert!(read("err").contains("cannot grow") && read("err").contains("make room on the disk"), "{}", read("err"));
    assert_eq!(read("refused_code").trim(), "2", "{}", read("refused"));
    assert!(read("refused").contains("the script was not run"), "{}", read("refused"));
    assert!(
        read("runs").contains("\"state\":\"ok\"") || read("runs").contains("\"state\": \"ok\""),
        "{}",
        read("runs")
    );
}
