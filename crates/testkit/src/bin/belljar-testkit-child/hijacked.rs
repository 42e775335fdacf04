//! The process of a component as an attacker who has taken it over would use it: it speaks the
//! frames of `crates/engine` by hand, asks for everything that can be asked for, and writes what it
//! heard to a file.

use std::{
    fs::File,
    io::{self, Read, Write},
};

/// Sent to this process.
const COMPONENT: u8 = 11;
const COMPILE: u8 = 12;
const RUN: u8 = 2;
/// Sent from this process.
const READY: u8 = 1;
const DIRECTORY: u8 = 3;
const LIST: u8 = 4;
const SEARCH: u8 = 5;
const DESCRIBE: u8 = 6;
const CALL: u8 = 7;
const PLAN: u8 = 15;
const ROUTE: u8 = 16;
const ARTIFACTS: u8 = 17;
const KEEP: u8 = 18;
const IMPORTS: u8 = 19;

/// Claims to import `imports` (JSON), asks about `path` and everything else, makes the one call
/// that it may make, and then one that it may not. The last answer that it hears is written down
/// like any other.
pub(crate) fn hijacked(file: &str, imports: &str, path: &str) -> io::Result<()> {
    let mut heard = File::create(file)?;
    let mut note = move |what: &str, body: &[u8]| {
        let line = serde_json::json!({ "asked": what, "heard": String::from_utf8_lossy(body) });
        writeln!(heard, "{line}")
    };
    // Until then, the host is still writing.
    until(COMPONENT)?;
    send(IMPORTS, 0, &text(imports))?;
    until(COMPILE)?;
    send(READY, 0, &[])?;
    let (run, body) = until(RUN)?;
    note("run", &body)?;
    for (what, kind, body) in [
        ("list", LIST, vec![0]),
        ("list of other", LIST, [vec![1], text("other")].concat()),
        ("search", SEARCH, [text("a b c d e f g i l m n o p r s t u v"), 100_u32.to_le_bytes().to_vec()].concat()),
        ("describe", DESCRIBE, text(path)),
        ("route", ROUTE, [text("other"), vec![0]].concat()),
        ("artifacts", ARTIFACTS, text(r#"{"list":{}}"#)),
        ("keep", KEEP, text(r#"{"keys":{}}"#)),
        ("plan", PLAN, text(r#"{"calls":[],"more":0,"others":false}"#)),
        ("directory 0", DIRECTORY, 0_u32.to_le_bytes().to_vec()),
        ("directory 1", DIRECTORY, 1_u32.to_le_bytes().to_vec()),
        ("directory 2", DIRECTORY, 2_u32.to_le_bytes().to_vec()),
    ] {
        send(kind, run, &body)?;
        let (_, answer) = received()?;
        note(what, &answer)?;
    }
    for (what, number, entry) in [("call", 0_u64, 0_u32), ("other call", 1, 1)] {
        let place = [0_u32.to_le_bytes(), entry.to_le_bytes()].concat();
        let body = [number.to_le_bytes().to_vec(), place, 0_u64.to_le_bytes().to_vec(), text("{}")].concat();
        send(CALL, run, &body)?;
        let (_, answer) = received()?;
        note(what, &answer)?;
    }
    Ok(())
}

fn text(text: &str) -> Vec<u8> {
    [(text.len() as u64).to_le_bytes().to_vec(), text.as_bytes().to_vec()].concat()
}

fn send(kind: u8, run: u64, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(&[&length.to_le_bytes()[..], &[kind], &run.to_le_bytes(), body].concat())?;
    stdout.flush()
}

/// The run and the body of the next frame of a kind; others are skipped.
fn until(kind: u8) -> io::Result<(u64, Vec<u8>)> {
    loop {
        let (found, run, body) = frame()?;
        if found == kind {
            return Ok((run, body));
        }
    }
}

fn received() -> io::Result<(u64, Vec<u8>)> {
    frame().map(|(_, run, body)| (run, body))
}

fn frame() -> io::Result<(u8, u64, Vec<u8>)> {
    let mut stdin = io::stdin().lock();
    let (mut length, mut kind, mut run) = ([0; 4], [0; 1], [0; 8]);
    stdin.read_exact(&mut length)?;
    stdin.read_exact(&mut kind)?;
    stdin.read_exact(&mut run)?;
    let mut body = vec![0; u32::from_le_bytes(length) as usize];
    stdin.read_exact(&mut body)?;
    Ok((kind[0], u64::from_le_bytes(run), body))
}
