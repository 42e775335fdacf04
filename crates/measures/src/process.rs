//! What the process takes of the machine, as Linux counts it.

use std::{fs, io};

/// Bytes of memory that are resident.
///
/// # Errors
/// There is no `/proc`, or it says something else.
pub fn resident_bytes() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes * 1024).ok_or_else(|| io::Error::other("/proc/self/status has no VmRSS"))
}

/// File descriptors that are open.
///
/// # Errors
/// There is no `/proc`.
pub fn descriptors() -> io::Result<usize> {
    // The one that reads the folder is among them.
    Ok(fs::read_dir("/proc/self/fd")?.count() - 1)
}
