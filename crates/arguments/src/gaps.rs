//! What is certain about arguments that are known only in part: those of a call that is in a
//! source, but has not been made yet.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};

/// Keywords whose subschemas apply or not depending on another part of the value.
const BRANCHING: [&str; 9] =
    ["anyOf", "oneOf", "not", "if", "then", "else", "contains", "dependentSchemas", "dependencies"];

/// The places in arguments whose values are not known, as JSON pointers.
#[derive(Debug, Default)]
pub struct Gaps {
    unknown: Vec<String>,
    texts: Vec<String>,
    open: Vec<String>,
}

/// How certain it is that the call will have a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It has the problem whatever the gaps contain.
    Certain,
    /// It has the problem unless the unknown part is left out.
    Likely,
    /// It depends on what a gap contains.
    Open,
}

impl Gaps {
    /// Gaps: values that are unknown and may be absent, unknown texts, and objects that may have
    /// more members.
    pub fn new(unknown: Vec<String>, texts: Vec<String>, open: Vec<String>) -> Self {
        Self { unknown, texts, open }
    }

    /// Whether everything is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.unknown.is_empty() && self.texts.is_empty() && self.open.is_empty()
    }

    /// Whether an object may have other members than the known ones.
    pub fn is_open(&self, place: &str) -> bool {
        self.open.iter().any(|open| open == place)
    }

    /// Whether it is unknown what is at a place, or if anything is there.
    pub(crate) fn is_unknown(&self, place: &str) -> bool {
        self.unknown.iter().any(|unknown| unknown == place)
    }

    /// How certain it is that the call will have this problem. The validator saw `null` and empty
    /// texts in the gaps.
    pub(crate) fn weigh(&self, error: &ValidationError<'_>) -> Weight {
        let path = error.evaluation_path().as_str();
        let mut before = path.split('/').rev();
        let last = before.next().unwrap_or_default();
        let depends = |keyword: &str| BRANCHING.contains(&keyword);
        if before.any(depends) || last.starts_with("depend") || last.starts_with("unevaluated") {
            return Weight::Open;
        }
        let place = error.instance_path().as_str();
        if self.unknown.iter().any(|unknown| below(unknown, place).is_some()) {
            return Weight::Open;
        }
        if self.texts.iter().any(|text| text == place) {
            return if matches!(error.kind(), Kind::Type { .. }) { Weight::Certain } else { Weight::Open };
        }
        match error.kind() {
            Kind::Required { .. } if self.is_open(place) => Weight::Open,
            Kind::Required { .. } | Kind::Type { .. } => Weight::Certain,
            Kind::AdditionalProperties { unexpected } => {
                let is_there = |name: &String| !self.is_unknown(&member(place, name));
                if unexpected.iter().any(is_there) { Weight::Certain } else { Weight::Likely }
            }
            _ if self.has_any_below(place) => Weight::Open,
            _ => Weight::Certain,
        }
    }

    fn has_any_below(&self, place: &str) -> bool {
        let mut all = self.unknown.iter().chain(&self.texts).chain(&self.open);
        all.any(|gap| below(place, gap).is_some())
    }
}

/// The rest of a pointer below another one.
fn below<'p>(outer: &str, inner: &'p str) -> Option<&'p str> {
    inner.strip_prefix(outer).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The pointer to a member.
pub(crate) fn member(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}
