//! What is certain of arguments of which only a part is known: those of a call that stands in a
//! source and was not made yet.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};

/// Keywords whose subschemas hold or do not, as something else of the value decides.
const BRANCHING: [&str; 9] =
    ["anyOf", "oneOf", "not", "if", "then", "else", "contains", "dependentSchemas", "dependencies"];

/// The places of arguments at which something else may stand, as JSON pointers.
#[derive(Debug, Default)]
pub struct Gaps {
    unknown: Vec<String>,
    texts: Vec<String>,
    open: Vec<String>,
}

/// How far a problem is one of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Whatever stands in the gaps.
    Certain,
    /// Unless what is not known is left out.
    Likely,
    /// What stands in a gap decides.
    Open,
}

impl Gaps {
    /// Gaps where something stands that is not known and may not be there at all, where a text
    /// stands that is not known, and in objects that may have more members.
    pub fn new(unknown: Vec<String>, texts: Vec<String>, open: Vec<String>) -> Self {
        Self { unknown, texts, open }
    }

    /// Whether all is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.unknown.is_empty() && self.texts.is_empty() && self.open.is_empty()
    }

    /// Whether an object may have more members than are known.
    pub fn is_open(&self, place: &str) -> bool {
        self.open.iter().any(|open| open == place)
    }

    /// Whether nothing is known of what stands at a place, or whether it is there.
    pub(crate) fn is_unknown(&self, place: &str) -> bool {
        self.unknown.iter().any(|unknown| unknown == place)
    }

    /// How far a problem is one of the call, which the validator found with `null` and empty texts
    /// in the gaps.
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

/// What is left of a pointer behind another that it is, or leads through.
fn below<'p>(outer: &str, inner: &'p str) -> Option<&'p str> {
    inner.strip_prefix(outer).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The pointer to a member.
pub(crate) fn member(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}
