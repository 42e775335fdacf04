//! Estimates the size of a pattern's automaton from the pattern's text.
//!
//! A pattern takes time linear in the text that it is applied to, but each byte may cost a step for
//! each state of its automaton: `a.{60}[^ab#]` has hundreds of them. This must be known before the
//! pattern is compiled, which takes time and memory as well. So the pattern's text is read once
//! from left to right, and whatever is not understood gets the highest possible count.

/// States for a class that covers most of Unicode, such as a dot.
const WIDE: u64 = 16;
/// States for a class by a property of Unicode, such as `\p{L}`.
const PROPERTY: u64 = 800;
/// States for a set of ASCII characters.
const NARROW: u64 = 2;
/// The factor for ignoring case.
const IGNORED_CASE: u64 = 4;

/// Roughly how many states the automaton of `pattern` has; the estimate is rarely too low.
pub(crate) fn states(pattern: &str) -> u64 {
    let mut groups = vec![Group::default()];
    let mut rest = pattern.chars().peekable();
    let mut factor = 1;
    while let Some(character) = rest.next() {
        let Some(group) = groups.last_mut() else { break };
        match character {
            '\\' => group.atom(escape(&mut rest)),
            '[' => group.atom(class(&mut rest)),
            '.' => group.atom(WIDE),
            '(' => {
                if rest.next_if_eq(&'?').is_some() {
                    while let Some(flag) = rest.next_if(|flag| flag.is_ascii_alphabetic() || "-<=!P_".contains(*flag)) {
                        if flag == 'i' {
                            factor = IGNORED_CASE;
                        }
                    }
                }
                groups.push(Group::default());
            }
            ')' => {
                let inner = groups.pop().unwrap_or_default().all();
                match groups.last_mut() {
                    Some(outer) => outer.atom(inner.saturating_add(2)),
                    None => groups.push(Group { done: inner, last: 0 }),
                }
            }
            '|' => group.atom(1),
            '*' | '+' | '?' => group.last = group.last.saturating_add(1),
            '{' => match repeat(&mut rest) {
                Some(times) => group.last = group.last.saturating_add(1).saturating_mul(times.max(1)),
                None => group.atom(1),
            },
            plain => group.atom(plain.len_utf8() as u64),
        }
    }
    let all = groups.into_iter().fold(0_u64, |sum, group| sum.saturating_add(group.all()));
    all.saturating_add(4).saturating_mul(factor)
}

/// The states of a group without its last part, which a repetition would multiply.
#[derive(Default)]
struct Group {
    done: u64,
    last: u64,
}

impl Group {
    fn atom(&mut self, states: u64) {
        self.done = self.all();
        self.last = states;
    }

    fn all(&self) -> u64 {
        self.done.saturating_add(self.last)
    }
}

type Rest<'p> = std::iter::Peekable<std::str::Chars<'p>>;

/// The part after a backslash.
fn escape(rest: &mut Rest<'_>) -> u64 {
    match rest.next() {
        Some('p' | 'P') => {
            if rest.next_if_eq(&'{').is_some() {
                while rest.next_if(|character| *character != '}').is_some() {}
                rest.next();
            }
            PROPERTY
        }
        Some('d' | 'w') => NARROW,
        Some('s' | 'S' | 'D' | 'W') => WIDE,
        // A character written by its number.
        Some('u' | 'x' | 'U') => 4,
        Some(other) => other.len_utf8() as u64,
        None => 1,
    }
}

/// The part from an opening bracket to the closing one.
fn class(rest: &mut Rest<'_>) -> u64 {
    let mut states = if rest.next_if_eq(&'^').is_some() { WIDE } else { NARROW };
    let (mut depth, mut is_first) = (0_u64, true);
    while let Some(character) = rest.next() {
        match character {
            '\\' => states = states.saturating_add(escape(rest)),
            ']' if !is_first && depth == 0 => break,
            ']' => depth = depth.saturating_sub(1),
            '[' => depth += 1,
            '^' => states = states.saturating_add(WIDE),
            character if character.is_ascii() => {}
            _ => states = states.saturating_add(4),
        }
        is_first = false;
    }
    states
}

/// The most repetitions of `{2}`, `{2,}` or `{2,5}`, or `None` if the brace is not a repetition.
fn repeat(rest: &mut Rest<'_>) -> Option<u64> {
    let mut ahead = rest.clone();
    let mut number = || {
        let mut number: Option<u64> = None;
        while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
            let digit = u64::from(digit.to_digit(10).unwrap_or(0));
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
        }
        (number, ahead.next())
    };
    let (least, end) = number();
    let most = match end {
        Some('}') => least,
        Some(',') => match number() {
            (most, Some('}')) => most.max(least),
            _ => None,
        },
        _ => None,
    };
    let most = most?;
    *rest = ahead;
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_multiply_and_alternatives_add() {
        assert_eq!(states("^[a-z]+$"), 9);
        assert!(states("a.{60}[^ab#]") > 900);
        assert!(states("(((a{100}){100}){100}){100}") > 100_000_000);
        assert!(states("(a|b|c){1000}") > 5000);
        assert!(states("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}") < 200);
        assert_eq!(states("a{99999999999999999999999}{99999999999999999999999}"), u64::MAX);
        assert!(states("(?i)abc") > states("abc"));
    }

    #[test]
    fn no_text_is_too_odd_to_be_counted() {
        for odd in [
            "", "(", ")", "))((", "[", "[]", "[^]", "\\", "\\p", "\\p{", "{", "{1", "a{,5}", "|||", "(?", "(?<n>",
            "[[a]",
        ] {
            assert!(states(odd) < 10_000, "{odd}");
        }
    }
}
