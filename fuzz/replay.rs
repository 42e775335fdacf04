//! Replays the fuzzing corpus in ordinary tests. Included by path, so that several crates share it.

use std::{fs, path::Path};

/// Runs `target` over the seeds, the findings and the distilled corpus of its fuzz target.
pub(crate) fn replay(name: &str, target: fn(&[u8])) {
    let fuzz = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/")).ancestors().find_map(|folder| {
        let fuzz = folder.join("fuzz");
        fuzz.join("seeds").is_dir().then_some(fuzz)
    });
    let folder = fuzz.expect("fuzz/ is in the repository").join("seeds").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.expect("a readable folder").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    for path in paths {
        let data = fs::read(&path).expect("a readable file");
        // On a panic, the captured output ends with the file that caused it.
        println!("{}", path.display());
        target(&data);
    }
}
