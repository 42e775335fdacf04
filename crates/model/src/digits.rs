//! 64 bits as digits that can be read aloud and typed without mistakes.

use std::fmt;

/// Crockford's base 32: it has no letter that is easily mistaken for a digit, and no U, which could
/// form words.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many digits of five bits each 64 bits need.
pub(crate) const LENGTH: usize = 13;

/// Writes the digits of these bits.
pub(crate) fn write(formatter: &mut fmt::Formatter<'_>, bits: u64) -> fmt::Result {
    for place in (0..LENGTH).rev() {
        let digit = (bits >> (5 * place)) & 31;
        let digit = DIGITS.iter().zip(0..).find_map(|(character, value)| (value == digit).then_some(*character));
        write!(formatter, "{}", char::from(digit.unwrap_or(b'0')))?;
    }
    Ok(())
}

/// The bits of exactly these digits.
pub(crate) fn read(digits: &str) -> Option<u64> {
    if digits.len() != LENGTH {
        return None;
    }
    let mut bits: u128 = 0;
    for digit in digits.bytes() {
        let value = DIGITS.iter().zip(0_u128..).find_map(|(known, value)| (*known == digit).then_some(value));
        bits = bits << 5 | value?;
    }
    u64::try_from(bits).ok()
}
