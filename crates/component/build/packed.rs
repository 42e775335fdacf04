//! The guest's sources as this crate's package carries them.
//!
//! Cargo puts no folder with a `Cargo.toml` of its own into a package. So `packed/` is the
//! repository's `guest` and `wit` by links, with the manifests under another name.

use std::{fs, io, path::Path};

/// What a manifest is called in `packed/`.
const MANIFEST: &str = "manifest.toml";

/// Lays the sources out as they are in the repository. A file that is there already is not written
/// again, so that nothing is built anew.
pub(crate) fn lay_out(packed: &Path, repository: &Path) -> io::Result<()> {
    fs::create_dir_all(repository)?;
    for entry in fs::read_dir(packed)? {
        let entry = entry?;
        let name = entry.file_name();
        let from = entry.path();
        if from.is_dir() {
            lay_out(&from, &repository.join(name))?;
            continue;
        }
        let to = repository.join(if name == MANIFEST { "Cargo.toml".into() } else { name });
        let text = fs::read(&from)?;
        if fs::read(&to).is_ok_and(|found| found == text) {
            continue;
        }
        fs::write(to, text)?;
    }
    Ok(())
}
