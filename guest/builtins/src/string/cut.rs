//! Pieces of a text: copied where they are short, shared with the whole where they are long.

use std::{cell::RefCell, collections::VecDeque};

use boa_engine::{JsString, string::JsStrVariant};

/// Up to this length a copy is smaller, or not much larger, than the engine's reference to a part,
/// and does not keep the whole.
const COPIED_UNITS: usize = 128;
/// A script that eats a text from the front has one such cursor, rarely two. Each keeps a text
/// alive.
const REMEMBERED: usize = 4;

struct Piece {
    piece: JsString,
    whole: JsString,
    start: usize,
}

thread_local! {
    /// The latest long pieces. A piece of a piece is cut from the whole: in `text = text.slice(1)`,
    /// over and over, each would else hold the one before it, and a long chain of these is freed by
    /// recursion that overflows the stack.
    static RECENT: RefCell<VecDeque<Piece>> = const { RefCell::new(VecDeque::new()) };
}

/// The code units from `start` to `end`; none if there are no such.
pub(crate) fn cut(text: &JsString, start: usize, end: usize) -> JsString {
    if start == 0 && end == text.len() {
        return text.clone();
    }
    let Some(units) = text.as_str().get(start..end) else { return JsString::default() };
    if units.len() <= COPIED_UNITS {
        return JsString::from(units);
    }
    RECENT.with_borrow_mut(|recent| {
        let known = recent.iter().position(|known| is_same(&known.piece, text));
        // What is cut again and again stays known.
        if let Some(index) = known {
            recent.swap(0, index);
        }
        let (whole, offset) = match (known, recent.front()) {
            (Some(_), Some(known)) => (known.whole.clone(), known.start),
            _ => (text.clone(), 0),
        };
        let start = offset + start;
        let piece = whole.slice(start, offset + end);
        recent.truncate(REMEMBERED - 1);
        recent.push_front(Piece { piece: piece.clone(), whole, start });
        piece
    })
}

/// Whether two strings are the same place in memory, which, as long as both are held, makes them
/// equal at no cost.
pub(crate) fn is_same(left: &JsString, right: &JsString) -> bool {
    match (left.variant(), right.variant()) {
        (JsStrVariant::Latin1(left), JsStrVariant::Latin1(right)) => std::ptr::eq(left, right),
        (JsStrVariant::Utf16(left), JsStrVariant::Utf16(right)) => std::ptr::eq(left, right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::{evaluate, ours, same_as_node};

    #[test]
    fn a_text_eaten_from_the_front_holds_no_chain() {
        let code = "let text = 'x'.repeat(200_000), n = 0; while (text) { text = text.slice(1); n++ } n";
        assert_eq!(evaluate(code, &mut ours()), "200000");
    }

    #[test]
    fn pieces_of_pieces() {
        same_as_node(&[
            "let t = 'abcdefghij'.repeat(100); let a = t.slice(3, 900); let b = a.slice(5, 800); b.slice(7, 700) + a.slice(1)",
            "let u = 'aéλ😀'.repeat(100); let c = u.slice(3, 400); let d = c.slice(5, 300); d.slice(7, 200) + c.slice(1)",
        ]);
    }
}
