//! A signed token (a JWT): its parts, and whether its claims are valid here.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};

/// The longest token that is examined. Tokens that contain groups and roles have some KB.
const TOKEN_BYTES: usize = 16 * 1024;
/// How much the clocks of two machines may differ.
const LEEWAY: Duration = Duration::from_secs(30);
/// The longest subject. OpenID Connect allows 255.
const SUBJECT_BYTES: usize = 255;

/// Why a token is invalid. The texts go into a header: they are ASCII, without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Rejected {
    #[error("the token is longer than {TOKEN_BYTES} bytes")]
    TooLong,
    #[error("the token is malformed")]
    Malformed,
    #[error("the token's algorithm is not one of RS, PS and ES with 256 or 384, RS512, PS512 and EdDSA")]
    Algorithm,
    #[error("the token is not an access token")]
    Type,
    #[error("the token is not signed by a key of the authorization server")]
    UnknownKey,
    #[error("the token's signature is wrong")]
    Signature,
    #[error("the token is from another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    NotYet,
    #[error("the token names no subject")]
    Subject,
    #[error("the token is bound to a key, which is not supported here")]
    Bound,
}

/// How a token is signed. Unsigned tokens and those signed with a shared secret are not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            // The second is the name that replaces the first.
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }
}

/// The parts of a token's header that are read. Its hints about where to find a key are ignored.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Whether there are extensions that must be understood. None is supported.
    #[serde(default, deserialize_with = "present")]
    crit: bool,
}

/// The parts of a token, none of them verified yet.
pub(crate) struct SignedToken<'t> {
    pub(crate) algorithm: Algorithm,
    pub(crate) key: Option<String>,
    /// The text that is signed.
    pub(crate) signed: &'t [u8],
    pub(crate) signature: Vec<u8>,
    payload: Vec<u8>,
}

impl<'t> SignedToken<'t> {
    /// Splits a token into its parts.
    pub(crate) fn read(token: &'t str) -> Result<Self, Rejected> {
        if token.len() > TOKEN_BYTES {
            return Err(Rejected::TooLong);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Rejected::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(Rejected::Malformed)?;
        let decoded = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| Rejected::Malformed);
        let header: Header = object(&decoded(header)?)?;
        if header.crit {
            return Err(Rejected::Malformed);
        }
        let algorithm = Algorithm::named(&header.alg).ok_or(Rejected::Algorithm)?;
        if header.typ.is_some_and(|kind| !is_access_token(&kind)) {
            return Err(Rejected::Type);
        }
        let (payload, signature) = (decoded(payload)?, decoded(signature)?);
        Ok(Self { algorithm, key: header.kid, signed: signed.as_bytes(), signature, payload })
    }

    /// The token's claims, if they are valid. Its signature must have been verified before.
    pub(crate) fn claims(&self, expected: &Expected<'_>) -> Result<Claims, Rejected> {
        let claims: Claims = object(&self.payload)?;
        let (now, leeway) = (expected.now.as_secs_f64(), LEEWAY.as_secs_f64());
        if claims.iss != expected.issuer {
            return Err(Rejected::Issuer);
        }
        if !claims.aud.iter().any(|audience| audience == expected.audience) {
            return Err(Rejected::Audience);
        }
        // The comparison is safe, because JSON has neither infinity nor NaN.
        if claims.exp + leeway <= now {
            return Err(Rejected::Expired);
        }
        if claims.nbf.is_some_and(|begin| begin - leeway > now) {
            return Err(Rejected::NotYet);
        }
        if claims.sub.is_empty() || claims.sub.len() > SUBJECT_BYTES {
            return Err(Rejected::Subject);
        }
        if claims.cnf {
            return Err(Rejected::Bound);
        }
        Ok(claims)
    }
}

/// Reads an object. serde would also accept an array of the fields' values.
fn object<T: DeserializeOwned>(text: &[u8]) -> Result<T, Rejected> {
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(Rejected::Malformed);
    }
    serde_json::from_slice(text).map_err(|_| Rejected::Malformed)
}

/// Whether a member is present, with any value, including `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// A token of another kind, such as an ID token, is not for a resource server.
fn is_access_token(kind: &str) -> bool {
    ["jwt", "at+jwt", "application/at+jwt"].iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// The claims that a token must have.
pub(crate) struct Expected<'e> {
    pub(crate) issuer: &'e str,
    pub(crate) audience: &'e str,
    /// Since the beginning of Unix time.
    pub(crate) now: Duration,
}

/// The claims of a token.
#[derive(Deserialize)]
pub(crate) struct Claims {
    iss: String,
    sub: String,
    aud: Several,
    /// In seconds, perhaps with a fraction.
    exp: f64,
    nbf: Option<f64>,
    scope: Option<Several>,
    /// The name that some authorization servers use for it.
    scp: Option<Several>,
    #[serde(default, deserialize_with = "present")]
    cnf: bool,
}

impl Claims {
    /// The subject of the token, as the issuer names it.
    pub(crate) fn subject(&self) -> &str {
        &self.sub
    }

    /// The Unix time until which the token is accepted.
    pub(crate) fn until(&self) -> Duration {
        // A number that is not a valid duration is later than all others: times before 1970 were
        // refused.
        Duration::try_from_secs_f64(self.exp).map_or(Duration::MAX, |exp| exp.saturating_add(LEEWAY))
    }

    /// The scopes, as the token names them.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        let both = self.scope.iter().chain(&self.scp);
        both.flat_map(Several::iter).flat_map(str::split_ascii_whitespace)
    }
}

/// A text, or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Several {
    One(String),
    Many(Vec<String>),
}

impl Several {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let texts = match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts.as_slice(),
        };
        texts.iter().map(String::as_str)
    }
}
