//! What a lock file says of a crate.

/// A crate as it is locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedCrate {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The SHA-256 of its `.crate` file, in hexadecimal.
    pub checksum: String,
}

/// The crates called `name` that the lock file `text` names and that come from a registry.
pub fn locked(text: &str, name: &str) -> Vec<LockedCrate> {
    // Cargo writes these files itself, a key to a line.
    text.split("[[package]]")
        .skip(1)
        .filter_map(|package| {
            let value = |key: &str| {
                let start = format!("{key} = \"");
                package.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'))
            };
            (value("name")? == name).then_some(())?;
            Some(LockedCrate {
                name: name.to_owned(),
                version: value("version")?.to_owned(),
                checksum: value("checksum")?.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = include_str!("../../../guest/Cargo.lock");

    #[test]
    fn the_engine_is_found_with_its_checksum() {
        let found = locked(LOCK, "boa_engine");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].checksum.len(), 64);
        assert!(locked(LOCK, "belljar-guest").is_empty(), "the guest itself has no checksum");
    }

    #[test]
    fn all_lock_files_name_the_engine_that_the_patches_are_for() {
        let (fuzz, workspace) = (include_str!("../../../fuzz/Cargo.lock"), include_str!("../../../Cargo.lock"));
        assert_eq!(locked(fuzz, "boa_engine"), locked(LOCK, "boa_engine"), "fuzzing compiles the guest's modules");
        assert_eq!(locked(workspace, "boa_engine"), locked(LOCK, "boa_engine"), "benches compare with the same engine");
    }
}
