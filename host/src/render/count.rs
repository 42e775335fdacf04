//! Numbers of things and spans of time, in words.

use std::time::Duration;

/// `1 server`, `2 servers`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// A span of time in at most two units.
pub(crate) fn roughly(span: Duration) -> String {
    let seconds = span.as_secs();
    let unit = match seconds {
        0..3600 => 1,
        3600..86_400 => 60,
        _ => 3600,
    };
    humantime::format_duration(Duration::from_secs(seconds / unit * unit)).to_string()
}
