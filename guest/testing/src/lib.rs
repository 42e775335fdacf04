//! Contexts to compare with Node: the engine with belljar's built-ins in the place of its own, and
//! with all of belljar's globals.
//!
//! These tests run natively, where the glass is not linked: nothing that a test does may reach for
//! a tool, the console, a timer or the host's clock.

// Nothing of it is for the sandbox.
#![cfg(not(target_family = "wasm"))]

pub mod fuzzing;
#[cfg(test)]
mod translated;

use boa_engine::{
    Context, JsString, Source,
    builtins::promise::PromiseState,
    object::builtins::{JsArray, JsPromise},
};

/// The engine with its own built-ins.
pub fn stock() -> Context {
    Context::default()
}

/// The engine with belljar's built-ins.
pub fn ours() -> Context {
    let mut context = Context::default();
    belljar_guest_engine::keep_originals(&mut context).expect("the originals are there");
    belljar_guest_builtins::install(&mut context).expect("the built-ins are made from constants");
    context
}

/// What a script gives, as text: its value as `String` makes it, or what it throws, of an error its
/// name alone.
pub fn evaluate(code: &str, context: &mut Context) -> String {
    let value = context.eval(Source::from_bytes(code));
    let text = value.and_then(|value| value.to_string(context));
    let error = match text {
        Ok(text) => return text.to_std_string_escaped(),
        Err(error) => error,
    };
    let thrown = match error.try_native(context) {
        Ok(native) => native.kind().to_string(),
        // Without where it was thrown.
        Err(_) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    format!("throws {thrown}")
}

/// Asserts that each of these scripts gives the same with belljar's built-ins as with the engine's
/// own: only for what Node 20 has not yet (methods of sets, `groupBy`, sources in revivers), or
/// does otherwise than the language says.
#[track_caller]
pub fn same_as_stock(scripts: &[impl AsRef<str>]) {
    let (mut stock, mut ours) = (stock(), ours());
    for script in scripts.iter().map(AsRef::as_ref) {
        assert_eq!(evaluate(script, &mut ours), evaluate(script, &mut stock), "{script}");
    }
}

/// Asserts that each of these scripts gives with belljar's built-ins what it gives in Node. They
/// share a realm, one after the other.
#[track_caller]
pub fn same_as_node(scripts: &[impl AsRef<str>]) {
    let scripts: Vec<&str> = scripts.iter().map(AsRef::as_ref).collect();
    let mut ours = ours();
    let mut differences = Vec::new();
    for (script, expected) in scripts.iter().zip(node_gives(&scripts)) {
        let found = evaluate(script, &mut ours);
        if found != expected {
            differences.push(format!("{script}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(differences.is_empty(), "{} of {} scripts\n{}", differences.len(), scripts.len(), differences.join("\n"));
}

/// What Node makes of scripts, in the form of [`evaluate`].
fn node_gives(scripts: &[&str]) -> Vec<String> {
    use std::{
        io::Write as _,
        path::Path,
        process::{Command, Stdio},
    };

    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tables/scripts.mjs");
    let mut command = Command::new("node");
    command.arg(program).env("TZ", "UTC").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = command.spawn().expect("node is there: install Node.js 20");
    let input = serde_json::to_vec(scripts).expect("texts are JSON");
    // It reads to the end before it writes.
    node.stdin.take().expect("a pipe").write_all(&input).expect("node reads its scripts");
    let output = node.wait_with_output().expect("node ends");
    assert!(output.status.success(), "node failed");
    let results: Vec<String> = serde_json::from_slice(&output.stdout).expect("node prints JSON");
    assert_eq!(results.len(), scripts.len());
    results
}

/// The engine with all of belljar's globals.
pub fn whole() -> Context {
    let mut context = Context::default();
    belljar_guest_engine::limit(&mut context);
    belljar_guest_globals::install(&mut context).expect("the globals are made from constants");
    context
}

/// Asserts what a table of `tests/tables` says: rows of an expression and the JSON of its value, or
/// `throws` and the error's name.
#[track_caller]
pub fn holds(table: &str) {
    let rows: Vec<Vec<String>> = serde_json::from_str(table).expect("the table is JSON");
    let mut context = whole();
    let mut differences = Vec::new();
    for row in &rows {
        let script = format!(
            "(async () => {{ try {{ return JSON.stringify(await (async () => ({}))()) ?? 'undefined' }} \
             catch (e) {{ return 'throws ' + (e?.name === 'Error' || !e?.name ? e : e.name) }} }})()",
            row[0]
        );
        let value = context.eval(Source::from_bytes(&script)).expect("the rows are expressions");
        let promise = JsPromise::from_object(value.as_object().expect("a promise")).expect("a promise");
        context.run_jobs().expect("the rows throw nothing later");
        let found = match promise.state() {
            PromiseState::Fulfilled(value) => value.as_string().unwrap_or_default(),
            _ => JsString::from("is never settled"),
        };
        let found = found.to_std_string_lossy();
        if found != row[1] {
            differences.push(format!("{}\n  expected {}\n  found    {found}", row[0], row[1]));
        }
    }
    assert!(differences.is_empty(), "{} of {} rows\n{}", differences.len(), rows.len(), differences.join("\n"));
}

/// Asserts what a table of `tests/tables` says: rows of the arguments of `console.log`, and the
/// text that is logged.
#[track_caller]
pub fn is_logged(table: &str) {
    let rows: Vec<Vec<String>> = serde_json::from_str(table).expect("the table is JSON");
    let mut context = whole();
    let mut differences = Vec::new();
    for row in &rows {
        let list = context.eval(Source::from_bytes(&format!("[{}]", row[0]))).expect("the rows are arguments");
        let list = JsArray::from_object(list.as_object().expect("a list")).expect("a list");
        let length = list.length(&mut context).expect("a list has a length");
        let arguments: Vec<_> = (0..length).filter_map(|index| list.get(index, &mut context).ok()).collect();
        let found = belljar_guest_values::inspect::format(&arguments, &mut context);
        if found != row[1] {
            differences.push(format!("{}\n---- expected\n{}\n---- found\n{found}\n", row[0], row[1]));
        }
    }
    assert!(differences.is_empty(), "{} of {} rows\n{}", differences.len(), rows.len(), differences.join("\n"));
}

/// Asserts what a table of `tests/tables` says: rows of calls of the console, and what they log.
#[track_caller]
pub fn calls_log(table: &str) {
    let rows: Vec<Vec<String>> = serde_json::from_str(table).expect("the table is JSON");
    let mut differences = Vec::new();
    for row in &rows {
        belljar_guest_globals::take_logged();
        whole().eval(Source::from_bytes(&row[0])).expect("the rows throw nothing");
        let found = belljar_guest_globals::take_logged().join("\n");
        if found != row[1] {
            differences.push(format!("{}\n---- expected\n{}\n---- found\n{found}\n", row[0], row[1]));
        }
    }
    assert!(differences.is_empty(), "{} of {} rows\n{}", differences.len(), rows.len(), differences.join("\n"));
}

#[test]
fn dates_are_read_as_node_reads_them() {
    holds(include_str!("../../../tests/tables/dates.json"));
}

#[test]
fn numbers_are_calculated_as_node_calculates_them() {
    holds(include_str!("../../../tests/tables/numbers.json"));
}

#[test]
fn every_patch_to_the_engine_holds_its_programs() {
    use std::{fs, path::Path};

    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../patches")).expect("there are patches");
    let files = crates.flat_map(|folder| fs::read_dir(folder.expect("a readable folder").path()).expect("a folder"));
    let paths = files.map(|file| file.expect("a readable folder").path());
    let patches: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "patch")).collect();
    assert!(!patches.is_empty());
    // Some of them recurse as deep as they may, and frames that are not optimised are large.
    let check = move || {
        for patch in patches {
            let programs = patch.with_extension("json");
            let table = fs::read_to_string(&programs).unwrap_or_else(|error| panic!("{}: {error}", programs.display()));
            holds(&table);
        }
    };
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(check).expect("a thread");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}
