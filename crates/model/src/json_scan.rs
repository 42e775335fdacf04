//! The tokens of a JSON text and where they are, without a tree.
//!
//! This is for code that needs positions in a text, or a few parts of a large one. The text should
//! be valid JSON. From any other text the result is bounded, but meaningless.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// The name of a member, with its quotes.
    Key,
    /// A text, with its quotes.
    Text,
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// A token of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is, in bytes.
    pub at: Range<usize>,
}

/// The tokens of a JSON text.
#[derive(Debug, Clone)]
pub struct Tokens<'text> {
    text: &'text str,
    at: usize,
}

impl<'text> Tokens<'text> {
    /// The tokens of this text.
    pub fn of(text: &'text str) -> Self {
        Self { text, at: 0 }
    }

    /// Skips the rest of the value that begins with this token, which must be the one returned
    /// last. Returns where the value ends, and how many members or elements it has.
    pub fn skip_value(&mut self, first: &Token) -> (usize, usize) {
        let (mut depth, mut end, mut count) = (0_usize, first.at.end, 0_usize);
        let mut next = Some(first.clone());
        while let Some(token) = next {
            end = token.at.end;
            // A member counts once: its value does, its name does not.
            if depth == 1 && !matches!(token.kind, TokenKind::Key | TokenKind::EndObject | TokenKind::EndArray) {
                count = count.saturating_add(1);
            }
            match token.kind {
                TokenKind::BeginObject | TokenKind::BeginArray => depth += 1,
                TokenKind::EndObject | TokenKind::EndArray => depth = depth.saturating_sub(1),
                TokenKind::Key | TokenKind::Text | TokenKind::Scalar => {}
            }
            if depth == 0 {
                break;
            }
            next = self.next();
        }
        (end, count)
    }

    fn bytes(&self) -> &'text [u8] {
        self.text.as_bytes()
    }

    /// The first position from here on with a byte other than these.
    fn behind(&self, from: usize, are: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(from..).unwrap_or_default();
        from + rest.iter().position(|byte| !are(*byte)).unwrap_or(rest.len())
    }

    /// The end of the text in quotes that begins here.
    fn end_of_text(&self, start: usize) -> usize {
        let bytes = self.bytes();
        let mut at = start + 1;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            if bytes.get(at + found) == Some(&b'"') {
                return at + found + 1;
            }
            at += found + 2;
        }
        bytes.len()
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let is_between = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
        let start = self.behind(self.at, is_between);
        let (kind, end) = match self.bytes().get(start)? {
            b'{' => (TokenKind::BeginObject, start + 1),
            b'}' => (TokenKind::EndObject, start + 1),
            b'[' => (TokenKind::BeginArray, start + 1),
            b']' => (TokenKind::EndArray, start + 1),
            b'"' => {
                let end = self.end_of_text(start);
                let after = self.behind(end, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
                let is_key = self.bytes().get(after) == Some(&b':');
                (if is_key { TokenKind::Key } else { TokenKind::Text }, end)
            }
            _ => {
                let is_inside = |byte: u8| !is_between(byte) && !matches!(byte, b'{' | b'}' | b'[' | b']' | b'"');
                (TokenKind::Scalar, self.behind(start, is_inside))
            }
        };
        self.at = end;
        Some(Token { kind, at: start..end })
    }
}

/// The characters of a text or name in a JSON text, without its quotes. A `\u` escape that does not
/// stand for a character becomes U+FFFD.
pub fn characters(inside: &str) -> impl Iterator<Item = char> {
    let mut rest = inside.chars();
    std::iter::from_fn(move || match rest.next()? {
        '\\' => Some(match rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = hex(&mut rest);
                let mut ahead = rest.clone();
                let second = match first {
                    0xd800..0xdc00 if ahead.next() == Some('\\') && ahead.next() == Some('u') => hex(&mut ahead),
                    _ => 0,
                };
                if (0xdc00..0xe000).contains(&second) {
                    rest = ahead;
                    char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).unwrap_or('\u{fffd}')
                } else {
                    char::from_u32(first).unwrap_or('\u{fffd}')
                }
            }
            other => other,
        }),
        other => Some(other),
    })
}

fn hex(digits: &mut std::str::Chars<'_>) -> u32 {
    digits.take(4).fold(0, |value, digit| value << 4 | digit.to_digit(16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_places_and_a_name_is_told_from_a_text() {
        let text = r#" {"a" : [1, -2.5e3,"b:\" ]"], "\u0041": {}, "c":null} "#;
        let tokens: Vec<_> = Tokens::of(text).map(|token| (token.kind, &text[token.at])).collect();
        use TokenKind::*;
        assert_eq!(
            tokens,
            [
                (BeginObject, "{"),
                (Key, "\"a\""),
                (BeginArray, "["),
                (Scalar, "1"),
                (Scalar, "-2.5e3"),
                (Text, r#""b:\" ]""#),
                (EndArray, "]"),
                (Key, r#""\u0041""#),
                (BeginObject, "{"),
                (EndObject, "}"),
                (Key, "\"c\""),
                (Scalar, "null"),
                (EndObject, "}"),
            ]
        );
    }

    #[test]
    fn a_value_is_skipped_and_its_parts_are_counted() {
        let text = r#"[[1,[2,3],{"a":[4],"b":5}], 6]"#;
        let mut tokens = Tokens::of(text);
        tokens.next();
        let first = tokens.next().expect("a list");
        assert_eq!(tokens.skip_value(&first), (26, 3));
        let next = tokens.next().expect("a number");
        assert_eq!(&text[next.at.clone()], "6");
        assert_eq!(tokens.skip_value(&next), (29, 0));
    }

    #[test]
    fn characters_are_those_that_a_parser_reads() {
        for text in [r#""""#, r#""a\n\t\"\\\/\u00e9\ud83d\ude00b""#, "\"\u{e9}\u{1f600}\""] {
            let read: String = serde_json::from_str(text).expect("a text");
            assert_eq!(characters(&text[1..text.len() - 1]).collect::<String>(), read);
        }
        assert_eq!(
            characters(r"\ud83dx\ude00\ud83d\ud83d\ude00").collect::<String>(),
            "\u{fffd}x\u{fffd}\u{fffd}\u{1f600}"
        );
    }

    #[test]
    fn texts_that_are_not_json_end() {
        for text in ["\"", "\"\\", "{\"a\":", "]]]", "[[[", "\u{0}", "nul", "\"\u{e9}\\", "tr\u{e9}\"", ",:,"] {
            assert!(Tokens::of(text).count() <= text.len(), "{text}");
            let mut tokens = Tokens::of(text);
            if let Some(first) = tokens.next() {
                tokens.skip_value(&first);
            }
            characters(text).count();
        }
    }
}
