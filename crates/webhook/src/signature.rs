//! Proves that a message comes from belljar, with a MAC over its time and its bytes.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header with the signature: `t=SECONDS,v1=HEX`.
pub const SIGNATURE_HEADER: &str = "belljar-signature";
/// The header with the id of the message, which is the same in each attempt to deliver it.
pub const DELIVERY_HEADER: &str = "belljar-delivery";

/// The value of [`SIGNATURE_HEADER`]: the time, and an HMAC-SHA256 with this secret of the seconds
/// since 1970, a dot and the body.
pub fn signature(secret: &str, seconds: u64, body: &[u8]) -> String {
    let key = Hmac::<Sha256>::new_from_slice(secret.as_bytes());
    // HMAC takes keys of any length.
    let mut mac = key.unwrap_or_else(|_| Hmac::<Sha256>::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
    mac.update(seconds.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={seconds},v1={digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_one_that_others_compute_and_each_part_of_it_counts() {
        // printf '1732500000.{}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let expected = "t=1732500000,v1=af10543680ba2ba30908ab772d23bbca8686cf47a2fb0d1558bde3b5a2237b88";
        assert_eq!(signature("0123456789abcdef", 1_732_500_000, b"{}"), expected);
        for other in [
            signature("0123456789abcdeg", 1_732_500_000, b"{}"),
            signature("0123456789abcdef", 1_732_500_001, b"{}"),
            signature("0123456789abcdef", 1_732_500_000, b"{ }"),
        ] {
            assert_ne!(other, expected);
        }
    }
}
