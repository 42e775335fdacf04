//! Durations as people write them, parsed in one place only.

use std::time::Duration;

/// The longest duration that can be configured anywhere: thirty days. No run, call or pause is
/// meant to take longer; something endless is configured by a word (`never`). Clocks can be
/// advanced by this much without an overflow.
pub const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Why a text is not accepted as a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It cannot be read as one.
    #[error("'{text}' is not a duration: write it like \"30s\", \"500ms\" or \"2m\"")]
    Syntax {
        /// The text, shortened.
        text: String,
    },
    /// It is longer than [`MAX_DURATION`].
    #[error("'{text}' is longer than 30 days, the limit for a duration")]
    TooLong {
        /// The text, shortened.
        text: String,
    },
}

/// Reads a duration such as `30s`, `500ms` or `1h 30m`.
///
/// # Errors
/// [`DurationError`], if it is not a duration, or is longer than [`MAX_DURATION`].
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration <= MAX_DURATION => Ok(duration),
        Ok(_) | Err(humantime::DurationError::NumberOverflow) => Err(DurationError::TooLong { text: shortened(text) }),
        Err(_) => Err(DurationError::Syntax { text: shortened(text) }),
    }
}

/// A duration as people write it, such as `1h 30m`.
pub fn duration_text(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// A foreign text, for a message.
fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_duration_is_at_most_so_long_that_every_clock_can_be_moved_on_by_it() {
        assert_eq!(parse_duration("1h 30m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(parse_duration("30days"), Ok(MAX_DURATION));
        assert!(Instant::now().checked_add(MAX_DURATION * 1_000).is_some());
        for text in ["30days 1ns", "18446744073709551615s", "99999999999999999999999s", "18446744073709551615years"] {
            let fault = parse_duration(text).expect_err(text);
            assert!(matches!(fault, DurationError::TooLong { .. }), "{fault}");
        }
        for text in ["", "5", "-5s", "soon", "NaN", "1e9s", &"x".repeat(1 << 20)] {
            let fault = parse_duration(text).expect_err("no duration");
            assert!(matches!(fault, DurationError::Syntax { .. }) && fault.to_string().len() < 300, "{fault}");
        }
    }
}
