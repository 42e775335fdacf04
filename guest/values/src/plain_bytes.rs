//! Bytes that stand for themselves in a string of JSON. Most bytes do, and are not looked at one by
//! one.

/// Bytes that are looked at together: what a vector register holds.
const TOGETHER: usize = 16;

/// Whether a byte stands for itself in a string of JSON, in Latin-1 and in UTF-8 alike.
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte.is_ascii() && byte != b'"' && byte != b'\\'
}

/// How many bytes at the start stand for themselves.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<TOGETHER>();
    // Without an end in the middle, so that it is compiled to vector instructions.
    let is_all_plain = |block: &&[u8; TOGETHER]| block.iter().fold(true, |all, &byte| all & is_plain(byte));
    let sure = blocks.iter().take_while(is_all_plain).count() * TOGETHER;
    let rest = bytes.get(sure..).unwrap_or_default();
    sure + rest.iter().position(|&byte| !is_plain(byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_not_plain_wherever_it_stands() {
        for length in 0..70 {
            let plain = vec![b'a'; length];
            assert_eq!(plain_run(&plain), length);
            for at in 0..length {
                for odd in [b'"', b'\\', 0, 0x1F, 0x80, 0xFF] {
                    let mut bytes = plain.clone();
                    bytes[at] = odd;
                    // What comes after it does not matter.
                    if at + 3 < length {
                        bytes[at + 3] = b'"';
                    }
                    assert_eq!(plain_run(&bytes), at, "{odd} at {at} of {length}");
                }
            }
        }
        assert!(
            (0..=255)
                .filter(|&byte| is_plain(byte))
                .eq((b' '..0x7F).chain([0x7F]).filter(|byte| !b"\"\\".contains(byte)))
        );
    }
}
