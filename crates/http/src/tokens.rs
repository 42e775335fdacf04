//! Tokens: the secrets that clients send, and what is stored about them.
//!
//! A token is 32 random bytes. Only its SHA-256 is stored: that many bytes cannot be guessed, so a
//! slow hash would protect nothing.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    str::FromStr,
};

use rand::TryRngCore as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::Principal;

/// The prefix by which people and programs that look for leaked secrets can recognise belljar's
/// tokens.
const PREFIX: &str = "belljar_";
/// The number of random bytes in a token.
const SECRET_BYTES: usize = 32;
/// The most tokens: each is compared with the one that a client sends.
const MAX_TOKENS: usize = 256;
/// The most characters in the name of a principal.
const MAX_NAME: usize = 64;
/// The name that rules use for a caller without a token.
const RESERVED: &str = "owner";

/// What the bearer of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Search the tools.
    #[serde(rename = "search")]
    Search,
    /// Run scripts with all tools.
    #[serde(rename = "run")]
    Run,
    /// Run scripts with tools that only read.
    #[serde(rename = "run:read-only")]
    RunReadOnly,
    /// Read the metrics.
    #[serde(rename = "metrics")]
    Metrics,
    /// Everything. Only this scope opens the page.
    #[serde(rename = "admin")]
    Admin,
}

impl Scope {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Search, "search"),
        (Self::Run, "run"),
        (Self::RunReadOnly, "run:read-only"),
        (Self::Metrics, "metrics"),
        (Self::Admin, "admin"),
    ];
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(scope, _)| scope == self).map_or("", |(_, name)| name);
        formatter.pad(name)
    }
}

impl FromStr for Scope {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(scope, _)| *scope).ok_or_else(|| TokenError::Scope { scope: text.to_owned() })
    }
}

/// What is wrong with a token, or a list of them.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// There is no such scope.
    #[error("there is no scope '{scope}': there are search, run, run:read-only, metrics and admin")]
    Scope {
        /// The text that was given.
        scope: String,
    },
    /// The name is not valid for a principal.
    #[error(
        "'{name}' cannot be the name of a token: it takes 1 to {MAX_NAME} letters, digits, '-', '_' and '.', and begins with a letter or digit"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The name is taken.
    #[error("there is a token '{name}' already; 'rotate' gives it a new secret")]
    Taken {
        /// The name.
        name: String,
    },
    /// The name is reserved for the owner.
    #[error("'{name}' is the name by which rules know callers without a token: choose another name")]
    Reserved {
        /// The name.
        name: String,
    },
    /// There is no token of this name.
    #[error("there is no token '{name}'")]
    Unknown {
        /// The name.
        name: String,
    },
    /// There are too many tokens.
    #[error("there are {MAX_TOKENS} tokens, the limit; remove one first")]
    TooMany,
    /// The list cannot be read. The message does not quote it.
    #[error("the list of tokens is damaged")]
    Damaged,
    /// The system returned no random bytes.
    #[error("the system returned no random bytes")]
    NoRandomness,
}

/// What is stored about one token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Its principal.
    pub name: String,
    /// Its scopes.
    pub scopes: BTreeSet<Scope>,
    sha256: Hash,
    /// When it was created, in seconds of Unix time.
    pub created: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Hash([u8; 32]);

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hex(&hash.0)
    }
}

impl TryFrom<String> for Hash {
    type Error = TokenError;

    fn try_from(text: String) -> Result<Self, TokenError> {
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(TokenError::Damaged);
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).ok_or(TokenError::Damaged)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| TokenError::Damaged)?;
        }
        Ok(Self(hash))
    }
}

/// The digest of a token that a client has shown, with which it can be checked again.
#[derive(Debug, Clone)]
pub(crate) struct TokenDigest([u8; 32]);

impl TokenDigest {
    pub(crate) fn of(shown: &str) -> Self {
        Self(Sha256::digest(shown.as_bytes()).into())
    }
}

/// The secret of a token, which is shown once.
pub struct NewToken(String);

impl NewToken {
    /// The text that a client sends.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; SECRET_BYTES];
        rand::rngs::OsRng.try_fill_bytes(&mut bytes).map_err(|_| TokenError::NoRandomness)?;
        Ok(Self(format!("{PREFIX}{}", hex(&bytes))))
    }

    fn hash(&self) -> Hash {
        Hash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NewToken(…)")
    }
}

/// All valid tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    tokens: Vec<Token>,
}

impl Tokens {
    /// Reads what [`Tokens::to_text`] wrote.
    ///
    /// # Errors
    /// [`TokenError::Damaged`]: a list that can be understood only in part is not used.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let read: Self = serde_json::from_str(text).map_err(|_| TokenError::Damaged)?;
        let names: HashSet<_> = read.tokens.iter().map(|token| token.name.as_str()).collect();
        let sound = names.len() == read.tokens.len() && names.iter().all(|name| is_name(name));
        if sound && read.tokens.len() <= MAX_TOKENS { Ok(read) } else { Err(TokenError::Damaged) }
    }

    /// The stored list, without secrets.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The tokens, in the order in which they were created.
    pub fn iter(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Creates a token for `name`.
    ///
    /// # Errors
    /// [`TokenError`], for a name that is taken or invalid.
    pub fn add(&mut self, name: &str, scopes: BTreeSet<Scope>, created: u64) -> Result<NewToken, TokenError> {
        if !is_name(name) {
            return Err(TokenError::Name { name: name.to_owned() });
        }
        if name == RESERVED {
            return Err(TokenError::Reserved { name: name.to_owned() });
        }
        if self.tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Taken { name: name.to_owned() });
        }
        if self.tokens.len() >= MAX_TOKENS {
            return Err(TokenError::TooMany);
        }
        let new = NewToken::random()?;
        self.tokens.push(Token { name: name.to_owned(), scopes, sha256: new.hash(), created });
        Ok(new)
    }

    /// Gives the token of `name` a new secret. The old one becomes invalid.
    ///
    /// # Errors
    /// [`TokenError::Unknown`].
    pub fn rotate(&mut self, name: &str, created: u64) -> Result<NewToken, TokenError> {
        let token = self.tokens.iter_mut().find(|token| token.name == name);
        let token = token.ok_or_else(|| TokenError::Unknown { name: name.to_owned() })?;
        let new = NewToken::random()?;
        (token.sha256, token.created) = (new.hash(), created);
        Ok(new)
    }

    /// Removes the token of `name`.
    ///
    /// # Errors
    /// [`TokenError::Unknown`].
    pub fn remove(&mut self, name: &str) -> Result<(), TokenError> {
        let before = self.tokens.len();
        self.tokens.retain(|token| token.name != name);
        if self.tokens.len() < before { Ok(()) } else { Err(TokenError::Unknown { name: name.to_owned() }) }
    }

    /// The principal of this token. It is compared with all tokens, each time in constant time.
    pub fn principal(&self, shown: &str) -> Option<Principal> {
        self.principal_of(&TokenDigest::of(shown))
    }

    /// The principal of the token with this digest.
    pub(crate) fn principal_of(&self, TokenDigest(shown): &TokenDigest) -> Option<Principal> {
        let mut found = None;
        for token in &self.tokens {
            if bool::from(token.sha256.0.ct_eq(shown)) {
                found = Some(token);
            }
        }
        found.map(|token| Principal::new(&token.name, token.scopes.clone()))
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        // The name may become part of a server's arguments and paths, so it must not look like an
        // option or be `..`.
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_principal_until_it_is_rotated_or_removed() {
        let mut tokens = Tokens::default();
        let first = tokens.add("laptop", BTreeSet::from([Scope::Search]), 1).expect("made");
        let other = tokens.add("ci", BTreeSet::from([Scope::Run]), 2).expect("made");
        assert_eq!(tokens.principal(first.reveal()).expect("known").name(), "laptop");
        assert!(!tokens.principal(other.reveal()).expect("known").may(Scope::Search));
        let second = tokens.rotate("laptop", 3).expect("rotated");
        assert!(tokens.principal(first.reveal()).is_none());
        assert_eq!(tokens.principal(second.reveal()).expect("known").name(), "laptop");
        tokens.remove("laptop").expect("removed");
        assert!(tokens.principal(second.reveal()).is_none());
        assert_eq!(tokens.remove("laptop"), Err(TokenError::Unknown { name: "laptop".to_owned() }));
    }

    #[test]
    fn what_is_kept_has_no_secret_and_gives_the_same_list_again() {
        let mut tokens = Tokens::default();
        let new = tokens.add("laptop", BTreeSet::from([Scope::RunReadOnly]), 7).expect("made");
        let text = tokens.to_text();
        let secret = new.reveal().strip_prefix(PREFIX).expect("ours");
        assert!(!text.contains(secret) && !format!("{new:?}").contains(secret));
        assert_eq!(Tokens::parse(&text).expect("read"), tokens);
    }

    #[test]
    fn a_damaged_list_is_refused_as_a_whole() {
        let mut tokens = Tokens::default();
        tokens.add("a", BTreeSet::new(), 7).expect("made");
        let text = tokens.to_text();
        for (from, to) in [("\"a\"", "\"a b\""), ("sha256\": \"", "sha256\": \"é"), ("\"created\"", "\"other\"")] {
            assert!(text.contains(from));
            assert_eq!(Tokens::parse(&text.replacen(from, to, 1)), Err(TokenError::Damaged), "{from}");
        }
    }

    #[test]
    fn names_are_taken_once_and_are_short_words() {
        let mut tokens = Tokens::default();
        tokens.add("a", BTreeSet::new(), 0).expect("made");
        assert!(matches!(tokens.add("a", BTreeSet::new(), 0), Err(TokenError::Taken { .. })));
        for name in ["", "a b", "ü", &"a".repeat(65), "a\n"] {
            assert!(matches!(tokens.add(name, BTreeSet::new(), 0), Err(TokenError::Name { .. })), "{name}");
        }
    }
}
