//! Tokens as GPT-4o and its successors count them (o200k), by the `gpt-tokenizer` pinned in
//! `tests/servers`.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// The tokens of each text.
///
/// A Rust tokenizer would do as well, but the features that it enables in shared crates would make
/// wasmtime compile again.
pub fn count<T: AsRef<str>>(texts: &[T]) -> Vec<usize> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers/tokens.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is missing: install Node.js 20 or later");
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let input = serde_json::to_vec(&texts).expect("texts");
    node.stdin.take().expect("it is piped").write_all(&input).expect("node reads its input");
    let output = node.wait_with_output().expect("node ends");
    assert!(output.status.success(), "the tokenizer is missing: cd tests/servers && npm ci");
    serde_json::from_slice(&output.stdout).expect("a list of numbers")
}
