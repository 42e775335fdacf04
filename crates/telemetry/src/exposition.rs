//! Writes Prometheus' text format.

use std::fmt::{Display, Write as _};

use crate::histogram::Histogram;

/// The media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text to which metrics are added one after the other.
#[derive(Debug, Default)]
pub(crate) struct Exposition(String);

/// Labels: the names are ours, the values can come from anybody.
pub(crate) type Labels<'l> = &'l [(&'static str, &'l str)];

impl Exposition {
    /// Starts a metric. All its samples must follow.
    pub(crate) fn metric(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(crate) fn sample(&mut self, name: &str, labels: Labels<'_>, value: impl Display) {
        self.0.push_str(name);
        for (at, (label, value)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"", if at == 0 { '{' } else { ',' });
            for character in value.chars() {
                match character {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    other => self.0.push(other),
                }
            }
            self.0.push('"');
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    pub(crate) fn histogram(&mut self, name: &str, labels: Labels<'_>, histogram: &Histogram) {
        let bucket = format!("{name}_bucket");
        let with = |bound: &str, count: u64, text: &mut Self| {
            let labels: Vec<_> = labels.iter().copied().chain([("le", bound)]).collect();
            text.sample(&bucket, &labels, count);
        };
        for (bound, count) in histogram.cumulative() {
            with(&bound.to_string(), count, self);
        }
        with("+Inf", histogram.count, self);
        self.sample(&format!("{name}_sum"), labels, histogram.sum);
        self.sample(&format!("{name}_count"), labels, histogram.count);
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_label_ends_it() {
        let mut text = Exposition::default();
        text.sample("m", &[("a", "x\"} 1\nn 2\\"), ("b", "")], 3);
        assert_eq!(text.into_text(), "m{a=\"x\\\"} 1\\nn 2\\\\\",b=\"\"} 3\n");
    }
}
