//! The order of a dictionary.
//!
//! A comparison of three levels like that of the Unicode Collation Algorithm, over an order that
//! holds for Latin, Greek and Cyrillic text: spaces, punctuation, other symbols, currencies,
//! digits, letters; then accents; then case. What has no place of its own stands in the order of
//! its code points.

use std::cmp::Ordering;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// What of two texts is compared.
#[derive(Debug, Clone)]
pub struct Rules {
    pub sensitivity: &'static str,
    pub case_first: &'static str,
    pub is_numeric: bool,
    pub ignores_punctuation: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { sensitivity: "variant", case_first: "false", is_numeric: false, ignores_punctuation: false }
    }
}

/// A character as it is compared: its place in the alphabet, and what is looked at if all places
/// are equal.
struct Weight {
    primary: u32,
    accent: u32,
    is_upper: bool,
}

/// What ASCII has that is neither digit nor letter, in order.
const SYMBOLS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~";
const CURRENCIES: &str = "¤¢$£¥₩₪₫€₱₴₸₹₺₽₿";
/// Where each kind of character begins.
const OTHER_SYMBOL: u32 = 0x1000;
const CURRENCY: u32 = 0x20_0000;
const DIGIT: u32 = 0x21_0000;
const LATIN: u32 = 0x22_0000;
const OTHER_LETTER: u32 = 0x23_0000;

impl Rules {
    /// The order of two texts.
    pub fn compare(&self, left: &str, right: &str) -> Ordering {
        if let Some(order) = self.compare_plain(left.as_bytes(), right.as_bytes()) {
            return order;
        }
        let (left, right) = (self.weights(left), self.weights(right));
        let by = |key: fn(&Weight) -> u32| left.iter().map(key).cmp(right.iter().map(key));
        let primary = left.iter().map(|weight| weight.primary).filter(|primary| *primary > 0);
        let primary = primary.cmp(right.iter().map(|weight| weight.primary).filter(|primary| *primary > 0));
        let accent = match self.sensitivity {
            "base" | "case" => Ordering::Equal,
            _ => by(|weight| weight.accent),
        };
        let case = match self.sensitivity {
            "base" | "accent" => Ordering::Equal,
            _ => {
                let case = |weights: &[Weight]| -> Vec<bool> {
                    weights.iter().filter(|weight| weight.primary > 0).map(|weight| weight.is_upper).collect()
                };
                case(&left).cmp(&case(&right))
            }
        };
        let case = if self.case_first == "upper" { case.reverse() } else { case };
        primary.then(accent).then(case)
    }

    /// What most texts are: ASCII, which is compared as it stands.
    fn compare_plain(&self, left: &[u8], right: &[u8]) -> Option<Ordering> {
        let is_plain = |text: &[u8]| text.iter().all(|byte| matches!(byte, b' '..=b'~'));
        if self.is_numeric || self.ignores_punctuation || !is_plain(left) || !is_plain(right) {
            return None;
        }
        let primary = left.iter().copied().map(plain_place).cmp(right.iter().copied().map(plain_place));
        let case = match self.sensitivity {
            "base" | "accent" => Ordering::Equal,
            _ => left.iter().map(u8::is_ascii_uppercase).cmp(right.iter().map(u8::is_ascii_uppercase)),
        };
        Some(primary.then(if self.case_first == "upper" { case.reverse() } else { case }))
    }

    fn weights(&self, text: &str) -> Vec<Weight> {
        let decomposed;
        let text = if text.is_ascii() {
            text
        } else {
            decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
            &decomposed
        };
        let mut weights = Vec::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if self.is_numeric && character.is_ascii_digit() {
                let mut digits = vec![character];
                while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                number(&digits, &mut weights);
                continue;
            }
            letters(character, &mut weights);
        }
        if self.ignores_punctuation {
            weights.retain(|weight| weight.primary == 0 || weight.primary >= OTHER_SYMBOL);
        }
        weights
    }
}

/// The place of an ASCII character in the alphabet.
fn plain_place(byte: u8) -> u32 {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => LATIN + u32::from(byte.to_ascii_lowercase()),
        b'0'..=b'9' => DIGIT + u32::from(byte),
        b'$' => CURRENCY,
        symbol => SYMBOLS.bytes().zip(1..).find(|(other, _)| *other == symbol).map_or(0, |(_, place)| place),
    }
}

/// A whole number counts by its size: first how many digits it has, then these.
fn number(digits: &[char], weights: &mut Vec<Weight>) {
    let zeros = digits.iter().take_while(|digit| **digit == '0').count();
    let digits = digits.get(zeros..).unwrap_or_default();
    let mut push = |primary: u32| weights.push(Weight { primary, accent: 0, is_upper: false });
    push(DIGIT + 10 + u32::try_from(digits.len()).unwrap_or(u32::MAX / 2).min(0xF000));
    for digit in digits {
        push(DIGIT + digit.to_digit(10).unwrap_or(0));
    }
}

fn letters(character: char, weights: &mut Vec<Weight>) {
    let is_upper = character.is_uppercase();
    let mut push = |primary: u32, accent: u32| weights.push(Weight { primary, accent, is_upper });
    let latin = |letter: char| LATIN + u32::from(letter.to_ascii_lowercase());
    let place =
        |list: &str| list.chars().position(|other| other == character).and_then(|place| u32::try_from(place).ok());
    match character {
        'a'..='z' | 'A'..='Z' => push(latin(character), 0),
        '0'..='9' => push(DIGIT + u32::from(character), 0),
        // Marks have no place of their own.
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' => {
            push(0, u32::from(character));
        }
        '\u{0}'..='\u{8}'
        | '\u{e}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{feff}' => {}
        _ if character.is_whitespace() => push(1, if character == ' ' { 0 } else { u32::from(character) }),
        _ => {
            if let Some(place) = place(SYMBOLS) {
                push(1 + place, 0);
            } else if let Some(place) = place(CURRENCIES) {
                push(CURRENCY + place, 0);
            } else if let Some(base) = latin_base(character) {
                for letter in base.chars() {
                    push(latin(letter), u32::from(character.to_lowercase().next().unwrap_or(character)));
                }
            } else if character.is_alphanumeric() {
                let lower = character.to_lowercase().next().unwrap_or(character);
                // The two Japanese syllabaries are one alphabet.
                let (place, accent) = match u32::from(lower) {
                    katakana @ 0x30A1..=0x30F6 => (katakana - 0x60, 1),
                    other => (other, 0),
                };
                // The last form of a Greek sigma is the same letter.
                push(OTHER_LETTER + if place == 0x3C2 { 0x3C3 } else { place }, accent);
            } else {
                push(OTHER_SYMBOL + u32::from(character), 0);
            }
        }
    }
}

/// Letters that are sorted with others, though they do not decompose.
fn latin_base(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'ħ' | 'Ħ' => "h",
        'ı' => "i",
        'þ' | 'Þ' => "th",
        'ŋ' | 'Ŋ' => "ng",
        _ => return None,
    })
}
