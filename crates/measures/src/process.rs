//! The resources of this process, as Linux counts them.

use std::{fs, io};

/// Bytes of memory that are resident.
///
/// # Errors
/// There is no `/proc`, or it has another format.
pub fn resident_bytes() -> io::Result<u64> {
    kibibytes("/proc/self/status", "VmRSS:")
}

/// Resident bytes, counting a page that is mapped several times once.
///
/// # Errors
/// There is no `/proc`, or it has another format.
pub fn proportional_bytes() -> io::Result<u64> {
    kibibytes("/proc/self/smaps_rollup", "Pss:")
}

fn kibibytes(file: &str, name: &str) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes * 1024).ok_or_else(|| io::Error::other(format!("{file} has no {name}")))
}

/// File descriptors that are open.
///
/// # Errors
/// There is no `/proc`.
pub fn descriptors() -> io::Result<usize> {
    // The one that reads the folder is among them.
    Ok(fs::read_dir("/proc/self/fd")?.count() - 1)
}
