//! The machine on which the figures were measured.

use std::{fs, num::NonZero, thread};

use crate::report::Machine;

impl Machine {
    /// This machine. Linux reports most fields; they are absent on other systems.
    pub fn this() -> Self {
        let first_line = |path: &str| Some(fs::read_to_string(path).ok()?.lines().next()?.trim().to_owned());
        let kernel = first_line("/proc/sys/kernel/ostype").zip(first_line("/proc/sys/kernel/osrelease"));
        Self {
            cpu_model: field("/proc/cpuinfo", "model name"),
            cores: cores(),
            kernel: kernel.map(|(system, release)| format!("{system} {release}")),
            memory_bytes: field("/proc/meminfo", "MemTotal").and_then(|memory| {
                let kibibytes: u64 = memory.strip_suffix("kB")?.trim().parse().ok()?;
                Some(kibibytes * 1024)
            }),
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
        }
    }
}

/// How many cores this process may use.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The text after `name:` in a file of lines.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    });
    value.filter(|value| !value.is_empty())
}
