//! The questions that the catalogue answers.

use std::{fmt, str::FromStr};

use belljar_model::Effect;
use serde::{Deserialize, Serialize};

use crate::text::one_line;

/// How much an answer says of each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Its name.
    Names,
    /// Its signature and its summary.
    Brief,
    /// Its declaration.
    Full,
}

impl Detail {
    /// Every level, in ascending order.
    pub const ALL: [Self; 3] = [Self::Names, Self::Brief, Self::Full];

    /// The name used on the command line and in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Brief => "brief",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is none of the three levels.
#[derive(Debug, thiserror::Error)]
#[error("unknown detail '{name}': it is one of names, brief, full")]
pub struct UnknownDetail {
    /// What was given, shortened.
    pub name: String,
}

impl FromStr for Detail {
    type Err = UnknownDetail;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|detail| detail.as_str() == name);
        known.ok_or_else(|| UnknownDetail { name: one_line(name, 40) })
    }
}

/// A question to the catalogue. Fields that are not set have the documented default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The query: words, a tool's name or a path. Empty: the catalogue, server by server.
    pub text: String,
    /// Only tools of this server, by its configured name or its alias.
    pub server: Option<String>,
    /// Only tools with this very effect.
    pub effect: Option<Effect>,
    /// How much to say of each tool: `brief` by default, or `names` if neither words nor a server
    /// are given.
    pub detail: Option<Detail>,
    /// The most tools: 10 for a search, and whatever fits the budget for the catalogue. Never more
    /// than 1,000.
    pub limit: Option<usize>,
    /// The most tokens that the answer's text takes, by
    /// [`estimate_tokens`](crate::estimate_tokens): 2,000.
    pub budget: Option<usize>,
}

impl Query {
    /// A question in words.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_detail_says_what_is_right() {
        for detail in Detail::ALL {
            assert_eq!(detail.as_str().parse::<Detail>().expect("its own name"), detail);
        }
        let fault = "ful\u{1b}l".parse::<Detail>().expect_err("unknown");
        assert_eq!(fault.to_string(), "unknown detail 'ful�l': it is one of names, brief, full");
    }
}
