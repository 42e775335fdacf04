//! Texts, numbers and constants.

use std::fmt::Write as _;

use crate::{Fault, FaultKind};

pub(crate) struct Scalars<'text> {
    text: &'text str,
    at: usize,
}

impl<'text> Scalars<'text> {
    pub(crate) fn new(text: &'text str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Goes on to the next byte that is no white space.
    pub(crate) fn skip_spaces(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0C) = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault<T>(&self, kind: FaultKind) -> Result<T, Fault> {
        Err(Fault { kind, at: self.at })
    }

    /// Writes the scalar that begins here.
    pub(crate) fn scalar(&mut self, json: &mut String) -> Result<(), Fault> {
        match self.peek() {
            Some(b'\'' | b'"') => self.string(false, json),
            Some(b'0'..=b'9' | b'.' | b'+' | b'-') => self.number(json),
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'_') => self.word(json),
            _ => self.fault(FaultKind::Unexpected),
        }
    }

    /// A constant, or the prefix of a text.
    fn word(&mut self, json: &mut String) -> Result<(), Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.bytes().take_while(is_part).count();
        let word = rest.get(..length).unwrap_or_default();
        let constant = match word {
            "None" => "null",
            "True" => "true",
            "False" => "false",
            _ => {
                let is_quoted = matches!(rest.as_bytes().get(length), Some(b'\'' | b'"'));
                let is_raw = match word.to_ascii_lowercase().as_str() {
                    "b" | "u" if is_quoted => false,
                    "r" | "br" | "rb" if is_quoted => true,
                    _ => return self.fault(FaultKind::Name),
                };
                self.at += length;
                return self.string(is_raw, json);
            }
        };
        json.push_str(constant);
        self.at += length;
        Ok(())
    }

    fn string(&mut self, is_raw: bool, json: &mut String) -> Result<(), Fault> {
        let Some(quote) = self.peek() else { return self.fault(FaultKind::End) };
        self.at += 1;
        json.push('"');
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest.bytes().take_while(|&byte| byte != quote && is_plain(byte)).count();
            json.push_str(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            match self.peek() {
                None => return self.fault(FaultKind::End),
                Some(byte) if byte == quote => break,
                Some(b'\n' | b'\r') => return self.fault(FaultKind::LineEnd),
                Some(b'\\') if is_raw => {
                    json.push_str("\\\\");
                    self.at += 1;
                    // What follows a backslash is part of the text, also where it is the quote.
                    if let Some(next) = self.peek().filter(|&next| next == quote || next == b'\\') {
                        push(json, u32::from(next));
                        self.at += 1;
                    }
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(json)?;
                }
                Some(byte) => {
                    push(json, u32::from(byte));
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        json.push('"');
        Ok(())
    }

    /// What a backslash begins, which was passed.
    fn escape(&mut self, json: &mut String) -> Result<(), Fault> {
        let Some(byte) = self.peek() else { return self.fault(FaultKind::End) };
        let code = match byte {
            b'\'' | b'"' | b'\\' => u32::from(byte),
            b'n' => 0x0A,
            b'r' => 0x0D,
            b't' => 0x09,
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'v' => 0x0B,
            b'0'..=b'7' => return self.digits(8, 1, 3, json),
            b'x' => return self.after(16, 2, json),
            b'u' => return self.after(16, 4, json),
            b'U' => return self.after(16, 8, json),
            b'N' => return self.fault(FaultKind::Escape),
            // A line that goes on.
            b'\n' => {
                self.at += 1;
                return Ok(());
            }
            // Python keeps the backslash of what it does not know.
            _ => {
                json.push_str("\\\\");
                return Ok(());
            }
        };
        self.at += 1;
        push(json, code);
        Ok(())
    }

    /// The digits behind the letter that is here.
    fn after(&mut self, radix: u32, count: usize, json: &mut String) -> Result<(), Fault> {
        self.at += 1;
        self.digits(radix, count, count, json)
    }

    fn digits(&mut self, radix: u32, least: usize, most: usize, json: &mut String) -> Result<(), Fault> {
        let mut code = 0_u32;
        for index in 0..most {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(radix));
            match digit {
                Some(digit) => code = code.wrapping_mul(radix).wrapping_add(digit),
                None if index >= least => break,
                None if self.peek().is_none() => return self.fault(FaultKind::End),
                None => return self.fault(FaultKind::Escape),
            }
            self.at += 1;
        }
        if code > 0x0010_FFFF {
            return self.fault(FaultKind::Escape);
        }
        push(json, code);
        Ok(())
    }

    fn number(&mut self, json: &mut String) -> Result<(), Fault> {
        let start = self.at;
        if let Some(sign @ (b'+' | b'-')) = self.peek() {
            if sign == b'-' {
                json.push('-');
            }
            self.at += 1;
        }
        if self.peek() == Some(b'0')
            && let Some(b'x' | b'X' | b'o' | b'O' | b'b' | b'B') = self.text.as_bytes().get(self.at + 1)
        {
            return self.of_radix(json);
        }
        let first = json.len();
        let whole = self.decimal(json);
        let is_zeros = json.get(first..).is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
        if whole > 1 && is_zeros {
            json.truncate(first + 1);
        } else if whole > 1
            && json.as_bytes().get(first) == Some(&b'0')
            && !matches!(self.peek(), Some(b'.' | b'e' | b'E'))
        {
            return Err(Fault { kind: FaultKind::Number, at: start });
        }
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            is_float = true;
            self.at += 1;
            if whole == 0 {
                json.push('0');
            }
            json.push('.');
            let part = self.decimal(json);
            if part == 0 {
                json.push('0');
            }
            if whole + part == 0 {
                return Err(Fault { kind: FaultKind::Unexpected, at: start });
            }
        } else if whole == 0 {
            return Err(Fault { kind: FaultKind::Unexpected, at: start });
        }
        if let Some(b'e' | b'E') = self.peek() {
            is_float = true;
            self.at += 1;
            json.push('e');
            if let Some(sign @ (b'+' | b'-')) = self.peek() {
                json.push(char::from(sign));
                self.at += 1;
            }
            if self.decimal(json) == 0 {
                return self.fault(FaultKind::Unexpected);
            }
        }
        if is_float {
            // JSON has no float with zeros before it, and nothing infinite.
            let zeros = json.get(first..).unwrap_or_default().bytes().take_while(|byte| *byte == b'0').count();
            let needed = usize::from(!json.as_bytes().get(first + zeros).is_some_and(u8::is_ascii_digit));
            json.replace_range(first..first + zeros - needed.min(zeros), "");
        }
        let can_be_infinite = is_float || whole > f64::MAX_10_EXP.unsigned_abs() as usize;
        let is_finite = || json.get(first..).and_then(|number| number.parse().ok()).is_some_and(f64::is_finite);
        if can_be_infinite && !is_finite() {
            return Err(Fault { kind: FaultKind::Number, at: start });
        }
        self.end_of_number(start)
    }

    /// Decimal digits, in which Python has underscores; how many.
    fn decimal(&mut self, json: &mut String) -> usize {
        let mut count = 0;
        while let Some(byte @ (b'0'..=b'9' | b'_')) = self.peek() {
            let is_between = count > 0 && self.text.as_bytes().get(self.at + 1).is_some_and(u8::is_ascii_digit);
            if byte == b'_' && !is_between {
                break;
            }
            if byte != b'_' {
                json.push(char::from(byte));
                count += 1;
            }
            self.at += 1;
        }
        count
    }

    fn of_radix(&mut self, json: &mut String) -> Result<(), Fault> {
        let start = self.at;
        let radix = match self.text.as_bytes().get(self.at + 1) {
            Some(b'x' | b'X') => 16,
            Some(b'o' | b'O') => 8,
            _ => 2,
        };
        self.at += 2;
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
        let value = rest.get(..length).and_then(|digits| u128::from_str_radix(digits, radix).ok());
        let Some(value) = value else { return Err(Fault { kind: FaultKind::Number, at: start }) };
        let _ = write!(json, "{value}");
        self.at += length;
        self.end_of_number(start)
    }

    /// What follows a number is no part of a name: `1j` is a complex number.
    fn end_of_number(&self, start: usize) -> Result<(), Fault> {
        match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' => {
                Err(Fault { kind: FaultKind::Number, at: start })
            }
            _ => Ok(()),
        }
    }
}

/// Whether a byte of a text stands in JSON as it does in Python.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// Writes a character of a text. Half of a surrogate pair stays an escape.
fn push(json: &mut String, code: u32) {
    match char::from_u32(code) {
        Some('"') => json.push_str("\\\""),
        Some('\\') => json.push_str("\\\\"),
        Some(character) if character >= ' ' => json.push(character),
        _ => {
            let _ = write!(json, "\\u{code:04x}");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{FaultKind, python_to_json};

    #[track_caller]
    fn gives(python: &str, json: &str) {
        assert_eq!(python_to_json(python).as_deref(), Ok(json), "{python}");
    }

    #[test]
    fn texts_keep_every_character() {
        gives(r"'it\'s'", r#""it's""#);
        gives(r#""it's \"so\"""#, r#""it's \"so\"""#);
        gives(r#"'say "so"'"#, r#""say \"so\"""#);
        gives(r"'a\\b\tc\n\r\x41\101\0'", "\"a\\\\b\\u0009c\\u000a\\u000dAA\\u0000\"");
        gives("'h\u{e9}llo \u{1f600}'", "\"h\u{e9}llo \u{1f600}\"");
        gives(r"'\u00e9\U0001F600\ud83d'", "\"\u{e9}\u{1f600}\\ud83d\"");
        gives(r"'\d \%'", r#""\\d \\%""#);
        gives(r"b'\xff\n'", "\"\u{ff}\\u000a\"");
        gives(r"r'\d\'x'", r#""\\d\\'x""#);
        gives("'a\\\nb'", r#""ab""#);
        gives("'tab\there'", "\"tab\\u0009here\"");
    }

    #[test]
    fn numbers_are_those_of_json() {
        for (python, json) in [
            ("0", "0"),
            ("-1", "-1"),
            ("+1", "1"),
            ("1_000_000", "1000000"),
            ("9007199254740993", "9007199254740993"),
            ("00", "0"),
            ("0x1F", "31"),
            ("-0b101", "-5"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("5.", "5.0"),
            ("-5.e3", "-5.0e3"),
            ("1e-05", "1e-05"),
            ("007.5", "7.5"),
            ("000.5", "0.5"),
        ] {
            gives(python, json);
        }
        assert_eq!(python_to_json(&"9".repeat(308)).unwrap(), "9".repeat(308));
        assert_eq!(python_to_json(&"9".repeat(309)).unwrap_err().kind, FaultKind::Number);
        for number in ["1e400", "01", "1j", "1.2.3", "0x", "12abc"] {
            assert_eq!(python_to_json(number).unwrap_err().kind, FaultKind::Number, "{number}");
        }
        for number in [".", "-", "1e", "--1"] {
            assert_eq!(python_to_json(number).unwrap_err().kind, FaultKind::Unexpected, "{number}");
        }
        for name in ["nan", "inf", "null", "Decimal('1')", "f'x'", "x'y'"] {
            assert_eq!(python_to_json(name).unwrap_err().kind, FaultKind::Name, "{name}");
        }
    }

    #[test]
    fn texts_that_do_not_end_are_faults() {
        for (python, kind) in [
            ("'abc", FaultKind::End),
            ("'abc\\", FaultKind::End),
            ("'a\nb'", FaultKind::LineEnd),
            (r"'\x4'", FaultKind::Escape),
            (r"'\N{BULLET}'", FaultKind::Escape),
            (r"'\UFFFFFFFF'", FaultKind::Escape),
        ] {
            assert_eq!(python_to_json(python).unwrap_err().kind, kind, "{python}");
        }
    }
}
