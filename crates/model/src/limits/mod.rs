//! Every budget of a run, declared once, each with its default and its reason.
//!
//! The rows of `table.rs` generate [`Limits`], [`LimitsPatch`] and [`LimitName`]. The reader of
//! belljar.toml, the options of the command line, the JSON schema, recordings and docs/LIMITS.md
//! are made from [`LimitSpec::ALL`], or checked against it.
//!
//! One bound is not here, since nobody can set it: the guest's stack. It is part of the
//! interpreter's image, laid out by the linker (4 MiB; 10,000 nested calls of JavaScript, and 400
//! of native functions), and the machine code is compiled for it. Exceeding it is a `RangeError`
//! that a script can catch, or ends the run with an error of the kind `stack`.

mod declare;
mod spec;
mod table;
mod value;

use serde_json::Value;

pub use spec::LimitSpec;
pub use table::{LimitName, Limits, LimitsPatch};
pub use value::LimitKind;
pub(crate) use value::optional;

impl Limits {
    /// The most bytes of a run's value, including the base64 of images and files.
    pub fn max_value_bytes(&self) -> u64 {
        self.max_output.as_u64().saturating_add(self.max_result.as_u64())
    }
}

/// A requested limit above the owner's ceiling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("limit '{name}' may be at most {max} here, and {asked} was asked for")]
pub struct LimitError {
    /// The limit's name.
    pub name: LimitName,
    /// The owner's ceiling.
    pub max: String,
    /// The requested value.
    pub asked: String,
}

impl LimitsPatch {
    /// The requested value and the ceiling of one limit, if the ceiling is higher, as text.
    pub fn asked_below(&self, name: LimitName, ceiling: &Limits) -> Option<(String, String)> {
        let written = |patch: &Self| {
            serde_json::to_value(patch).ok()?.get(name.as_str()).map(|value| match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            })
        };
        let (asked, most) = (written(self)?, written(&Self::from(ceiling))?);
        (asked != most).then_some((asked, most))
    }

    /// `limits`, with the limits that are set here replaced: for the owner, who may also raise
    /// them.
    ///
    /// A limit that has no effect next to a wider one (`wait` next to `timeout`,
    /// `max_concurrent_calls` next to `max_calls`) is raised with it: an owner who allows a longer
    /// run has not asked for a shorter wait.
    #[must_use]
    pub fn over(&self, limits: &Limits) -> Limits {
        let mut over = self.instead_of(limits);
        for spec in LimitSpec::ALL {
            if let Some(wider) = spec.follows.and_then(LimitSpec::of).filter(|_| !(spec.is_set)(self)) {
                let (limit, before, now) = ((spec.get)(limits), (wider.get)(limits), (wider.get)(&over));
                if limit >= before {
                    (spec.set)(&mut over, limit.max(now));
                }
            }
        }
        over
    }

    /// `ceiling` lowered by what is set here: for a client, who may not raise limits.
    ///
    /// # Errors
    /// [`LimitError`], which names the first limit that was requested above its ceiling.
    pub fn within(&self, ceiling: &Limits) -> Result<Limits, LimitError> {
        let limits = self.over(ceiling);
        for spec in LimitSpec::ALL {
            let (asked, max) = ((spec.get)(&limits), (spec.get)(ceiling));
            if asked > max {
                return Err(LimitError { name: spec.name, max: spec.kind.text(max), asked: spec.kind.text(asked) });
            }
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytesize::ByteSize;

    use super::*;

    #[test]
    fn a_patch_reads_units() {
        let patch: LimitsPatch =
            serde_json::from_str(r#"{"timeout": "5s", "memory": "64MiB", "fuel": 7}"#).expect("a patch");
        assert_eq!(patch.timeout, Some(Duration::from_secs(5)));
        assert_eq!(patch.memory, Some(ByteSize::mib(64)));
        assert_eq!(patch.over(&Limits::default()).fuel, 7);
        let none: LimitsPatch = serde_json::from_str(r#"{"timeout": null, "fuel": null}"#).expect("a patch");
        assert_eq!(none, LimitsPatch::default());
        assert!(serde_json::from_str::<LimitsPatch>(r#"{"timeout": "soon"}"#).is_err());
        assert!(serde_json::from_str::<LimitsPatch>(r#"{"timeuot": "5s"}"#).is_err());
    }

    #[test]
    fn each_limit_is_set_read_and_named_by_itself() {
        let mut changed = Limits::default();
        for (at, spec) in (1..).zip(LimitSpec::ALL) {
            (spec.set)(&mut changed, at);
        }
        let patch = LimitsPatch::from(&changed);
        for (at, (spec, name)) in (1..).zip(LimitSpec::ALL.iter().zip(LimitsPatch::NAMES)) {
            assert_eq!((spec.get)(&changed), at, "{name}");
            assert_eq!((spec.name.as_str(), LimitName::from_name(name)), (name, Some(spec.name)));
            assert!((spec.is_set)(&patch) && !(spec.is_set)(&LimitsPatch::default()), "{name}");
        }
        let written = serde_json::to_value(&patch).expect("a patch");
        assert_eq!(serde_json::from_value::<LimitsPatch>(written).expect("what was written"), patch);
    }

    #[test]
    fn a_default_is_told_as_it_is_written_in_the_configuration() {
        for spec in LimitSpec::ALL.iter().filter(|spec| spec.follows.is_none()) {
            let text = spec.default_text();
            let value = text.parse::<u64>().map_or(Value::String(text), Value::from);
            let patch = serde_json::json!({ spec.name.as_str(): value });
            let patch: LimitsPatch = serde_json::from_value(patch).expect("a default");
            assert_eq!(patch.over(&Limits::default()), Limits::default(), "{}", spec.name);
        }
        assert_eq!(LimitSpec::of(LimitName::Wait).expect("a limit").default_text(), "as timeout");
        assert!(LimitSpec::of(LimitName::Stack).is_none());
    }

    #[test]
    fn a_limit_that_decides_nothing_is_raised_with_the_wider_one_and_one_that_does_is_not() {
        let longer =
            LimitsPatch { timeout: Some(Duration::from_secs(600)), max_calls: Some(9_000), ..LimitsPatch::default() };
        let raised = longer.over(&Limits::default());
        assert_eq!((raised.wait, raised.max_concurrent_calls), (Duration::from_secs(600), 9_000));
        let owners = Limits { wait: Duration::from_secs(5), max_concurrent_calls: 4, ..Limits::default() };
        let kept = longer.over(&owners);
        assert_eq!((kept.wait, kept.max_concurrent_calls), (Duration::from_secs(5), 4));
        let asked = LimitsPatch { timeout: Some(Duration::from_secs(60)), ..LimitsPatch::default() };
        assert_eq!(asked.within(&owners).expect("lower").wait, Duration::from_secs(5));
    }

    #[test]
    fn a_client_may_lower_a_limit_and_never_raise_it() {
        let ceiling = Limits::default();
        let lower = LimitsPatch { max_calls: Some(3), ..LimitsPatch::default() };
        assert_eq!(lower.within(&ceiling).expect("lower").max_calls, 3);
        let higher = LimitsPatch { memory: Some(ByteSize::gib(4)), ..LimitsPatch::default() };
        let fault = higher.within(&ceiling).expect_err("higher");
        assert_eq!(fault.to_string(), "limit 'memory' may be at most 256.0 MiB here, and 4.0 GiB was asked for");
    }
}
