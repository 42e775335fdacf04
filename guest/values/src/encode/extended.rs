//! What extended JSON has in the place of values that JSON has no word for: an object whose only
//! member is `$belljar`. An object of the script's with that only member is escaped.

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// Undefined.
pub(super) const UNDEFINED: &str = r#"{"$belljar":"undefined"}"#;
/// How an object begins whose first member is `$belljar`.
pub(super) const MARKED: &[u8] = br#"{"$belljar":"#;
/// What goes around one that has no other member.
pub(super) const ESCAPE: [&str; 2] = [r#"{"$belljar":{"object":"#, "}}"];

/// Bytes of a type.
pub(super) fn bytes(name: &str, bytes: &[u8]) -> String {
    format!(r#"{{"$belljar":{{"bytes":"{}","type":"{name}"}}}}"#, BASE64_STANDARD.encode(bytes))
}
