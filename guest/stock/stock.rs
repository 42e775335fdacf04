//! What the engine gives without belljar's patches: each of them is here for a program that goes
//! wrong without it.
//!
//! A patch whose programs are all right here is one that a new release of the engine has made
//! needless: delete it. One for speed says so in its header, and gives the same here: what it is
//! for is held by the fuel of `tests/guarantees/speed.rs`. So does one that makes the machine code
//! smaller, and one that tells the host more, or keeps something for belljar alone: what is made of
//! it is held by guarantees and `tests/scripts/mistakes`.

#![forbid(unsafe_code)]
#![cfg(test)]

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
};

use boa_engine::{Context, Source, builtins::promise::PromiseState, object::builtins::JsPromise};

/// What the header of a patch says that changes nothing but what things cost, or what the host is
/// told.
const UNSEEN: [&str; 4] = ["Speed: ", "Memory: ", "Size: ", "Host: "];

#[test]
fn every_patch_is_needed() {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../patches")).expect("there are patches");
    let patches = crates
        .flat_map(|folder| fs::read_dir(folder.expect("a readable folder").path()).expect("a folder"))
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "patch"));
    let mut patches: Vec<PathBuf> = patches.collect();
    patches.sort();
    assert!(!patches.is_empty());
    for patch in patches {
        let text = fs::read_to_string(&patch).expect("a patch is text");
        if text.lines().any(|line| UNSEEN.iter().any(|unseen| line.starts_with(unseen))) {
            continue;
        }
        let programs = patch.with_extension("json");
        let programs = fs::read_to_string(&programs).unwrap_or_else(|error| panic!("{}: {error}", programs.display()));
        let rows: Vec<Vec<String>> = serde_json::from_str(&programs).expect("the programs are JSON");
        // The first shows the slip. The others are its neighbours, and some of them never end here.
        // A third text is why Node 20 gives something else.
        let [program, node, ..] = rows.first().expect("a patch has programs").as_slice() else {
            panic!("a program has a value: {}", patch.display())
        };
        assert_ne!(&given(program), node, "{} is not needed for\n{program}", patch.display());
    }
}

/// What the engine makes of an expression: JSON, or what it throws, or nothing where it panics.
fn given(program: &str) -> String {
    panic::catch_unwind(AssertUnwindSafe(|| {
        let script = format!(
            "(async () => {{ try {{ return JSON.stringify(await (async () => ({program}))()) }} catch (e) {{ return String(e) }} }})()"
        );
        let mut context = Context::default();
        let value = context.eval(Source::from_bytes(&script)).expect("the programs are expressions");
        let promise = JsPromise::from_object(value.as_object().expect("a promise")).expect("a promise");
        context.run_jobs().expect("the programs leave nothing that throws");
        match promise.state() {
            PromiseState::Fulfilled(text) => text.as_string().expect("a text").to_std_string_lossy(),
            _ => "is never settled".to_owned(),
        }
    }))
    .unwrap_or_default()
}
