//! The fuzzed function and its invariants: `fuzz/` feeds it, and the test below replays its corpus.

use crate::{
    imports::{Imports, MAX_FUNCTIONS, MAX_NAMED},
    reading::from_file,
    refusal::Refusal,
};

/// The most bytes of a name as it is shown, including the reason beside it.
const MAX_SHOWN: usize = 4 * 1024;

/// A component from anywhere, as WebAssembly or as text. Either it is refused with a message of
/// bounded length, or its imports are known, and do not change when they are sent to another
/// process.
pub fn component_bytes(data: &[u8]) {
    let imports = match from_file(data).and_then(|component| Imports::read(&component)) {
        Ok(imports) => imports,
        Err(refusal) => return refused(&refusal),
    };
    let functions: usize = imports.interfaces.iter().map(|interface| interface.functions.len()).sum();
    assert!(functions <= MAX_FUNCTIONS, "{functions} functions");
    // A component can import each of the two interfaces once.
    assert!(imports.any_tool.len() <= 2 && imports.any_tool.iter().all(|any| any.functions.len() <= 2), "{imports:?}");
    for interface in &imports.interfaces {
        assert!(interface.import.contains(&interface.package), "{interface:?}");
    }
    let told = serde_json::to_string(&imports).expect("it has texts and flags");
    assert_eq!(serde_json::from_str::<Imports>(&told).ok().as_ref(), Some(&imports));
}

fn refused(refusal: &Refusal) {
    if let Refusal::Imports { names, .. } = refusal {
        assert!(!names.is_empty() && names.len() <= MAX_NAMED);
        assert!(names.iter().all(|name| name.len() <= MAX_SHOWN), "{names:?}");
    }
    let error = refusal.error();
    assert!(!error.message.is_empty() && error.message.len() < 10_000, "{} bytes", error.message.len());
    let reported = Refusal::reported(&refusal.report()).expect("its own report");
    assert_eq!((reported.kind, reported.message, reported.hint), (error.kind, error.message, error.hint));
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_components_holds_still() {
        replay::replay("component_bytes", component_bytes);
    }
}
