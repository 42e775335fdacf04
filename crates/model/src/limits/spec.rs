//! A limit's properties besides its value.

use super::{LimitKind, LimitName, Limits, LimitsPatch};

/// A limit of a run that the owner can set.
#[derive(Debug, Clone, Copy)]
pub struct LimitSpec {
    /// Its name.
    pub name: LimitName,
    /// What it counts.
    pub kind: LimitKind,
    /// What it bounds, as a line for help texts.
    pub summary: &'static str,
    /// What it bounds and the reason for its default: the documentation of its field.
    pub reason: &'static str,
    /// The wider limit with which it is raised, if it has no effect next to that one.
    pub follows: Option<LimitName>,
    /// Its value as a number: nanoseconds, bytes, or a count.
    pub get: fn(&Limits) -> u64,
    /// Sets it to such a number.
    pub set: fn(&mut Limits, u64),
    /// Whether a patch sets it.
    pub is_set: fn(&LimitsPatch) -> bool,
    /// Makes a patch set it to such a number.
    pub set_in: fn(&mut LimitsPatch, u64),
}

impl LimitSpec {
    /// The limit with this name, if the owner can set it.
    pub fn of(name: LimitName) -> Option<&'static Self> {
        Self::ALL.iter().find(|spec| spec.name == name)
    }

    /// Its default, as written in belljar.toml.
    pub fn default_text(&self) -> String {
        let number = (self.get)(&Limits::default());
        match (self.follows, self.kind) {
            (Some(wider), _) => format!("as {wider}"),
            (None, LimitKind::Size) => size(number),
            (None, kind) => kind.text(number),
        }
    }
}

/// A size in the largest unit in which it is a whole number.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("MB", 1_000_000)];
    let whole = UNITS.into_iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}
