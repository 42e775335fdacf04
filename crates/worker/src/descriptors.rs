//! Closes descriptors that a process inherited by accident: a lock, a pipe or a socket of its
//! parent.
//!
//! In a process that lives on, an inherited lock would never be released and the end of a pipe
//! never be seen. No safe code can mark a descriptor that is known only by its number as
//! close-on-exec, so the started process closes them, before it opens anything.

use std::io;

/// How many descriptors are closed one by one if the system does not list them.
const UNLISTED_DESCRIPTORS: i32 = 65_536;

/// Closes every descriptor but stdin, stdout, stderr and those in `keep`: a parent may have leaked
/// its own.
///
/// Must be called first in `main`: it would close descriptors that something in this process has
/// opened.
///
/// # Errors
/// The system does not say which descriptors are possible.
pub fn close_inherited(keep: &[i32]) -> io::Result<()> {
    // Collected first: the folder itself has a descriptor, which is closed by the end of the list.
    let listed: io::Result<Vec<_>> = std::fs::read_dir("/dev/fd").and_then(Iterator::collect);
    let numbers: Vec<i32> = match listed {
        Ok(entries) => entries.iter().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect(),
        Err(_) => {
            // Without a list, all possible ones.
            let (soft, _) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)?;
            (0..i32::try_from(soft).unwrap_or(i32::MAX).min(UNLISTED_DESCRIPTORS)).collect()
        }
    };
    for number in numbers.into_iter().filter(|number| *number > 2 && !keep.contains(number)) {
        // The list's own is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
