//! The keys of an authorization server, and the check whether one of them has signed a token.
//!
//! A key is valid only for the algorithms of its kind, whatever a token says.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

use super::token::{Algorithm, Rejected, SignedToken};

/// The most keys that are kept from a set. Servers have two or three; those that sign for many
/// tenants have a dozen.
const MAX_KEYS: usize = 64;
/// How many keys are tried for a token that names none.
const MAX_TRIED: usize = 8;

/// The keys that may have signed a token.
#[derive(Debug)]
pub(crate) struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm that the key may be used for, if the issuer names one.
    only: Option<Algorithm>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key in a set: RFC 7517.
#[derive(Deserialize)]
struct Written {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Keys {
    /// Reads a set. Keys of other kinds and for other purposes are skipped; `None` if it is not a
    /// set.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(text).ok()?;
        let written = set.keys.into_iter().filter_map(|key| serde_json::from_value::<Written>(key).ok());
        Some(Self(written.filter_map(Key::of).take(MAX_KEYS).collect()))
    }

    /// Whether one of the keys has signed the token.
    pub(crate) fn check(&self, token: &SignedToken<'_>) -> Result<(), Rejected> {
        let fits = |key: &&Key| token.key.is_none() || key.id == token.key;
        let mut candidates = self.0.iter().filter(fits).filter(|key| key.is_for(token.algorithm)).take(MAX_TRIED);
        if candidates.any(|key| key.has_signed(token)) {
            return Ok(());
        }
        let named = token.key.is_some() && self.0.iter().any(|key| key.id == token.key);
        // A token that names no key may be signed by a key that is not known yet.
        Err(if named { Rejected::Signature } else { Rejected::UnknownKey })
    }
}

impl Key {
    fn of(written: Written) -> Option<Self> {
        let is_for_signatures = written.purpose.is_none_or(|purpose| purpose == "sig")
            && written.key_ops.is_none_or(|all| all.iter().any(|operation| operation == "verify"));
        let only = match &written.alg {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let decoded = |text: &Option<String>| BASE64_URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let point = || Some([vec![4], decoded(&written.x)?, decoded(&written.y)?].concat());
        let material = match (written.kty.as_str(), written.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { modulus: decoded(&written.n)?, exponent: decoded(&written.e)? },
            ("EC", Some("P-256")) => Material::P256(point()?),
            ("EC", Some("P-384")) => Material::P384(point()?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(decoded(&written.x)?),
            _ => return None,
        };
        is_for_signatures.then_some(Self { id: written.kid, only, material })
    }

    fn is_for(&self, algorithm: Algorithm) -> bool {
        self.only.is_none_or(|only| only == algorithm)
            && match &self.material {
                Material::Rsa { .. } => rsa(algorithm).is_some(),
                Material::P256(_) => algorithm == Algorithm::Es256,
                Material::P384(_) => algorithm == Algorithm::Es384,
                Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
            }
    }

    fn has_signed(&self, token: &SignedToken<'_>) -> bool {
        let with = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(token.signed, &token.signature).is_ok()
        };
        match &self.material {
            Material::Rsa { modulus, exponent } => rsa(token.algorithm).is_some_and(|parameters| {
                // ring expects this; some servers write leading zeros.
                let (n, e) = (without_zeros(modulus), without_zeros(exponent));
                RsaPublicKeyComponents { n, e }.verify(parameters, token.signed, &token.signature).is_ok()
            }),
            Material::P256(point) => with(&ECDSA_P256_SHA256_FIXED, point),
            Material::P384(point) => with(&ECDSA_P384_SHA384_FIXED, point),
            Material::Ed25519(key) => with(&ED25519, key),
        }
    }
}

/// A number without its leading zeros.
fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}

/// The parameters for an algorithm of RSA, whose keys must have at least 2,048 bits.
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
        Algorithm::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
        Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &RSA_PSS_2048_8192_SHA512,
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa => return None,
    })
}
