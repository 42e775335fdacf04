//! Secrets of the configuration, found and masked in texts that quote them.
//!
//! This is for belljar's own texts, and for a server's stderr and error texts. It is not for the
//! values, logs and results of scripts: there a mask would corrupt data, and would tell a script
//! which of its guesses is the secret.

use std::{
    borrow::Cow,
    collections::{BTreeSet, VecDeque},
    fmt,
};

use aho_corasick::AhoCorasick;
use base64::{Engine as _, engine::GeneralPurpose, prelude::BASE64_STANDARD_NO_PAD, prelude::BASE64_URL_SAFE_NO_PAD};
use parking_lot::RwLock;

use crate::display;

/// Replaces a secret.
pub const MASK: &str = "[redacted]";

/// The shortest secret that is masked, in characters: a shorter one is part of ordinary words.
const SHORTEST: usize = 8;
/// The most bytes of all secrets of one server: a few keys and certificates. The search takes at
/// most some hundred times as much memory.
const MOST_BYTES: usize = 64 * 1024;
/// How many secrets that were added later are kept: the newest ones. The tokens of a login are
/// renewed again and again.
const LEARNED: usize = 8;

/// Masks the secrets of one server.
#[derive(Default)]
pub struct Redactor {
    configured: Search,
    learned: RwLock<Learned>,
}

#[derive(Default)]
struct Learned {
    secrets: VecDeque<String>,
    search: Search,
}

#[derive(Default)]
enum Search {
    #[default]
    Nothing,
    Forms(AhoCorasick),
    /// There are too many secrets to search for, so no text is let through.
    Everything,
}

impl Redactor {
    /// The longest piece of a secret that is searched for, in bytes; longer secrets are found piece
    /// by piece. A text that is to be cut is redacted with this many more bytes, so that no part of
    /// a secret is left at the cut.
    pub const REACH: usize = 512;

    /// Masks `secrets`, including in the forms in which programs and protocols write them: in URLs,
    /// JSON and base64. Secrets of fewer than eight characters are ignored.
    pub fn new<'secret>(secrets: impl IntoIterator<Item = &'secret str>) -> Self {
        Self { configured: Search::of(secrets), learned: RwLock::default() }
    }

    /// Adds a secret that was not known at first, such as a token. Only the newest are kept.
    pub fn learn(&self, secret: &str) {
        let mut learned = self.learned.write();
        if learned.secrets.iter().any(|known| known == secret) {
            return;
        }
        learned.secrets.truncate(LEARNED - 1);
        learned.secrets.push_front(secret.to_owned());
        learned.search = Search::of(learned.secrets.iter().map(String::as_str));
    }

    /// The text with [`MASK`] in place of each secret. Takes linear time.
    pub fn redact<'text>(&self, text: &'text str) -> Cow<'text, str> {
        self.redact_to(text, text.len())
    }

    /// The same for the first `end` bytes. A secret that begins before the end and continues after
    /// it is masked, too.
    pub fn redact_to<'text>(&self, text: &'text str, end: usize) -> Cow<'text, str> {
        let end = floor(text, end.min(text.len()));
        let mut spans = Vec::new();
        self.configured.spans(text, &mut spans);
        self.learned.read().search.spans(text, &mut spans);
        spans.sort_unstable();
        let mut hidden: Vec<(usize, usize)> = Vec::new();
        for (start, stop) in spans {
            match hidden.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(stop),
                _ => hidden.push((start, stop)),
            }
        }
        hidden.retain(|(start, _)| *start < end);
        if hidden.is_empty() {
            return Cow::Borrowed(text.get(..end).unwrap_or_default());
        }
        let (mut shown, mut from) = (String::new(), 0);
        for (start, stop) in hidden {
            shown.push_str(text.get(from..start).unwrap_or_default());
            shown.push_str(MASK);
            from = stop;
        }
        // If a secret extends beyond the end, nothing follows it.
        shown.push_str(text.get(from..end).unwrap_or_default());
        Cow::Owned(shown)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Search {
    fn of<'secret>(secrets: impl IntoIterator<Item = &'secret str>) -> Self {
        let (mut forms, mut bytes) = (BTreeSet::new(), 0_usize);
        for secret in secrets {
            bytes = bytes.saturating_add(secret.len());
            if bytes > MOST_BYTES {
                return Self::Everything;
            }
            // Each line of a key is as secret as the key, since errors are printed line by line.
            for part in std::iter::once(secret).chain(secret.lines()).map(str::trim) {
                if part.chars().count() >= SHORTEST {
                    add_forms(part, &mut forms);
                }
            }
        }
        if forms.is_empty() {
            return Self::Nothing;
        }
        AhoCorasick::new(forms).map_or(Self::Everything, Self::Forms)
    }

    /// Adds the positions of secrets, as ranges of bytes that end at character boundaries.
    fn spans(&self, text: &str, spans: &mut Vec<(usize, usize)>) {
        match self {
            Self::Nothing => {}
            Self::Everything => spans.push((0, text.len())),
            Self::Forms(forms) => {
                let mut found: Vec<(usize, usize)> = Vec::new();
                // Ends are ascending, so overlapping ranges are at the end of the list.
                for hit in forms.find_overlapping_iter(text) {
                    let (mut start, stop) = (floor(text, hit.start()), ceiling(text, hit.end()));
                    while let Some(last) = found.pop_if(|last| last.1 >= start) {
                        start = start.min(last.0);
                    }
                    found.push((start, stop));
                }
                spans.append(&mut found);
            }
        }
    }
}

/// The forms in which a secret is written.
fn add_forms(secret: &str, forms: &mut BTreeSet<Vec<u8>>) {
    add(secret.as_bytes(), forms);
    // The form in which belljar shows invisible characters, and in which it joins lines.
    add(display::line(secret).as_bytes(), forms);
    add(secret.replace(['\n', '\r', '\t'], " ").as_bytes(), forms);
    let json = serde_json::to_string(secret).unwrap_or_default();
    add(json.get(1..json.len().saturating_sub(1)).unwrap_or_default().as_bytes(), forms);
    for (kept, space, upper) in
        [("-._~", "%20", true), ("-._~", "%20", false), ("-._*", "+", true), ("-._~/:@!$&'()*+,;=", "%20", true)]
    {
        add(percent_encoded(secret, kept, space, upper).as_bytes(), forms);
    }
    for alphabet in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
        (0..3).for_each(|before| add(&encoded(&alphabet, secret, before), forms));
    }
}

/// Adds a form, in pieces if it is long. The last piece overlaps the previous one, so that none is
/// short.
fn add(form: &[u8], forms: &mut BTreeSet<Vec<u8>>) {
    if form.len() < SHORTEST {
        return;
    }
    let pieces = form.chunks_exact(Redactor::REACH);
    let last =
        if pieces.remainder().is_empty() { None } else { form.get(form.len().saturating_sub(Redactor::REACH)..) };
    forms.extend(pieces.chain(last).map(<[u8]>::to_vec));
}

/// The base64 digits that depend on the secret only, if `before` bytes more than a multiple of
/// three precede it, such as the name and the colon in `Basic` authorization.
fn encoded(alphabet: &GeneralPurpose, secret: &str, before: usize) -> Vec<u8> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret.as_bytes());
    let digits = alphabet.encode(&bytes).into_bytes();
    let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    digits.get(first..last).unwrap_or_default().to_vec()
}

fn percent_encoded(secret: &str, kept: &str, space: &str, upper: bool) -> String {
    let mut encoded = String::with_capacity(secret.len() * 3);
    for byte in secret.bytes() {
        match byte {
            b' ' => encoded.push_str(space),
            _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => encoded.push(char::from(byte)),
            _ if upper => encoded.push_str(&format!("%{byte:02X}")),
            _ => encoded.push_str(&format!("%{byte:02x}")),
        }
    }
    encoded
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceiling(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "sesame/öffne dich+42";

    fn masked(secret: &str, text: &str) -> String {
        Redactor::new([secret]).redact(text).into_owned()
    }

    #[test]
    fn a_secret_is_masked_in_every_form_in_which_it_is_written() {
        for form in [
            "sesame/öffne dich+42",
            "sesame%2F%C3%B6ffne%20dich%2B42",
            "sesame%2f%c3%b6ffne%20dich%2b42",
            "sesame%2F%C3%B6ffne+dich%2B42",
            "sesame/%C3%B6ffne%20dich+42",
        ] {
            assert_eq!(masked(SECRET, &format!("a {form} b {form}")), "a [redacted] b [redacted]");
        }
        assert_eq!(masked("qu\"ote\\d\ttab", r#"{"a":"qu\"ote\\d\ttab"}"#), r#"{"a":"[redacted]"}"#);
        for name in ["", "x", "xy", "token", "x-access-token"] {
            for alphabet in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
                let text = alphabet.encode(format!("{name}:{SECRET}"));
                let shown = masked(SECRET, &format!("Basic {text}=="));
                assert!(shown.contains(MASK), "{shown}");
                // The remainder reveals the two bytes that share a digit with a neighbour.
                assert!(shown.len() < 45, "{shown}");
            }
        }
    }

    #[test]
    fn secrets_that_overlap_touch_or_hold_each_other_are_masked_together() {
        let redactor = Redactor::new(["abcdefghij", "ghijklmnop", "cdefghij", "qrstuvwxyz"]);
        assert_eq!(redactor.redact("0 abcdefghijklmnop 1"), "0 [redacted] 1");
        assert_eq!(redactor.redact("abcdefghijqrstuvwxyz"), "[redacted]");
        assert_eq!(redactor.redact("abcdefghij qrstuvwxyz"), "[redacted] [redacted]");
        assert_eq!(redactor.redact("abcdefghi"), "abcdefghi");
    }

    #[test]
    fn no_part_of_a_secret_is_left_before_a_cut() {
        let redactor = Redactor::new(["abcdefghij"]);
        for end in 2..12 {
            assert_eq!(
                redactor.redact_to("0 abcdefghij 1", end),
                if end == 2 { "0 " } else { "0 [redacted]" },
                "{end}"
            );
        }
        assert_eq!(redactor.redact_to("öabcdefghij", 1), "");
    }

    #[test]
    fn long_secrets_are_found_in_pieces_and_line_by_line() {
        let long: String = (0..2_000).map(|number| char::from_u32(0x4e00 + number).expect("a character")).collect();
        assert_eq!(masked(&long, &format!("a {long} b")), "a [redacted] b");
        let key = "-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwxyz012345\nx\n-----END KEY-----";
        assert_eq!(masked(key, "line qrstuvwxyz012345 x"), "line [redacted] x");
    }

    #[test]
    fn what_is_short_or_unknown_stays_and_too_much_hides_all() {
        assert_eq!(masked("sesame", "sesame"), "sesame");
        assert_eq!(Redactor::default().redact("sesame"), "sesame");
        let much = "0123456789".repeat(MOST_BYTES / 10 + 1);
        assert_eq!(masked(&much, "whatever"), MASK);
    }

    #[test]
    fn what_is_learned_later_is_masked_and_the_newest_count() {
        let redactor = Redactor::new([]);
        let token = |number: usize| format!("token-number-{number:02}");
        (0..20).for_each(|number| redactor.learn(&token(number)));
        assert_eq!(redactor.redact(&token(19)), MASK);
        assert_eq!(redactor.redact(&token(20 - LEARNED)), MASK);
        assert_eq!(redactor.redact(&token(0)), token(0));
        assert!(!format!("{redactor:?}").contains("token-number"));
    }
}
