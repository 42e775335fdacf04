//! The file of a recording.

use std::path::{Component, Path, PathBuf};

use belljar_model::{ByteSize, Recorded};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use std::io::Write as _;

use crate::{failure::Failure, output};

/// Bytes of a recording: three of the largest answers, or thousands of small ones.
pub(super) const MAX_BYTES: ByteSize = ByteSize::mib(16);
/// Bytes of a fixture, which has the same content as text.
pub(super) const MAX_FIXTURE_BYTES: ByteSize = ByteSize::mib(64);

/// A new file for a recording. Its place is checked before the run, so that no run is made in vain.
pub(super) struct RecordingFile {
    path: PathBuf,
    folder: Dir,
    name: PathBuf,
}

impl RecordingFile {
    /// Opens the folder, and checks that nothing would be overwritten.
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        let hint = "name a file that does not exist yet, in a folder that does";
        let name = path.file_name().ok_or_else(|| Failure::usage(format!("{} names no file", path.display()), hint))?;
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let unusable = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("{} cannot be written: {error}", path.display()), hint)
        };
        let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| unusable(&error))?;
        if folder.symlink_metadata(name).is_ok() {
            return Err(unusable(&"a file of this name exists"));
        }
        Ok(Self { path: path.to_owned(), name: name.into(), folder })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the recording, readable by its owner only, and reports it. `component` is the file of
    /// the component whose run it is.
    pub(super) fn write(&self, recorded: Option<&Recorded>, component: Option<&Path>) -> Result<(), Failure> {
        let path = self.path.display();
        let bytes = match recorded {
            Some(Recorded::Whole(bytes)) => bytes,
            Some(Recorded::NotReplayable { reason }) => {
                output::warn(format_args!("{path} was not written: {reason}"));
                return Ok(());
            }
            None => {
                output::warn(format_args!("{path} was not written: the run did not begin"));
                return Ok(());
            }
        };
        self.write_bytes(bytes)?;
        let size = ByteSize::b(bytes.len() as u64).display().iec();
        let with = component.map(|file| format!(" --component {}", file.display())).unwrap_or_default();
        output::note(format_args!("recorded, {size}: belljar replay {path}{with}"));
        Ok(())
    }

    /// Writes a fixture, and reports it.
    pub(super) fn write_fixture(&self, text: &str) -> Result<(), Failure> {
        self.write_bytes(text.as_bytes())?;
        output::note(format_args!("written: belljar test {}", self.path.display()));
        Ok(())
    }

    /// The relative path from this file's folder to another file, as a fixture names its script:
    /// with slashes, and the same in every checkout.
    pub(super) fn way_to(&self, other: &Path) -> Result<String, Failure> {
        let unusable = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("{} cannot be named in the fixture: {error}", other.display()), "name a file")
        };
        let folder = match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let from = folder.canonicalize().map_err(|error| unusable(&error))?;
        let to = other.canonicalize().map_err(|error| unusable(&error))?;
        let shared = from.components().zip(to.components()).take_while(|(from, to)| from == to).count();
        let up = std::iter::repeat_n(Component::ParentDir, from.components().count().saturating_sub(shared));
        let way = up.chain(to.components().skip(shared));
        let names: Vec<_> = way
            .map(|part| part.as_os_str().to_str())
            .collect::<Option<_>>()
            .ok_or_else(|| unusable(&"its path is not UTF-8"))?;
        Ok(names.join("/"))
    }

    /// Writes these bytes, readable by the owner only.
    pub(super) fn write_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let written =
            belljar_files::open(&self.folder, &self.name, &mut options).and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| Failure::internal(format!("{} could not be written: {error}", self.path.display())))
    }
}
