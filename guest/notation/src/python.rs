//! The grammar: brackets, commas and colons between scalars.

use crate::{Fault, FaultKind, output::Output, scalar::Scalars};

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A value, or the end of what was just opened, or of what a comma ended.
    ValueOrEnd {
        is_after_comma: bool,
    },
    Value,
    AfterValue,
}

/// The JSON of a text that is one literal of Python: of a list, tuple or set an array, of a dict an
/// object. A tuple of one and a set cannot be told from a list afterwards, nor a number that is a
/// key from a text.
///
/// # Errors
/// The first [`Fault`] of a text that is anything else.
pub fn python_to_json(text: &str) -> Result<String, Fault> {
    let mut reader = Scalars::new(text);
    let mut output = Output::for_bytes(text.len());
    let mut next = Next::Value;
    loop {
        let byte = reader.skip_spaces();
        let at = reader.at();
        let fault = |kind| Fault { kind, at };
        next = match (next, byte) {
            (Next::AfterValue, None) if output.is_whole() => return Ok(output.json),
            (_, None) => return Err(fault(FaultKind::End)),
            (Next::AfterValue, Some(b',')) => {
                output.comma().map_err(fault)?;
                reader.skip();
                Next::ValueOrEnd { is_after_comma: true }
            }
            (Next::AfterValue, Some(b':')) => {
                output.colon().map_err(fault)?;
                reader.skip();
                Next::Value
            }
            (Next::AfterValue | Next::ValueOrEnd { .. }, Some(bracket @ (b']' | b')' | b'}'))) => {
                let is_after_comma = next == Next::ValueOrEnd { is_after_comma: true };
                output.close(char::from(bracket), is_after_comma).map_err(fault)?;
                reader.skip();
                Next::AfterValue
            }
            (Next::AfterValue, Some(_)) => return Err(fault(FaultKind::Unexpected)),
            (_, Some(bracket @ (b'[' | b'(' | b'{'))) => {
                output.push(char::from(bracket)).map_err(fault)?;
                reader.skip();
                Next::ValueOrEnd { is_after_comma: false }
            }
            (_, Some(_)) => {
                output.begin_value();
                reader.scalar(&mut output.json)?;
                Next::AfterValue
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn gives(python: &str, json: &str) {
        let found = python_to_json(python).unwrap_or_else(|fault| panic!("{python}: {fault:?}"));
        assert_eq!(found.replace(' ', ""), json.replace(' ', ""), "{python}");
    }

    #[track_caller]
    fn fails(python: &str, kind: FaultKind, at: usize) {
        assert_eq!(python_to_json(python), Err(Fault { kind, at }), "{python}");
    }

    #[test]
    fn what_python_prints_is_json_with_the_same_values() {
        gives(
            "[{'customer': 'c1', 'total': 12.5, 'paid': True, 'note': None}]",
            r#"[{"customer":"c1","total":12.5,"paid":true,"note":null}]"#,
        );
        gives("(1, 'a')", r#"[1,"a"]"#);
        gives("[('a', 1), ('b',)]", r#"[["a",1],["b"]]"#);
        gives("{1, 2}", "[1,2]");
        gives("{3}", "[3]");
        gives("{}", "{}");
        gives("[]", "[]");
        gives("()", "[]");
        gives("(5)", "5");
        gives("((1,),)", "[[1]]");
        gives("[1, 2,]", "[1,2]");
        gives("{'a': 1,}", r#"{"a":1}"#);
        gives("{1: 'a', None: 'b', True: (), -2.5: {}}", r#"{"1":"a","null":"b","true":[],"-2.5":{}}"#);
        gives("{'a': {'b': [1, {'c': ()}]}}", r#"{"a":{"b":[1,{"c":[]}]}}"#);
        gives(" [\n 1 ,\t2\n] \n", "[1,2]");
    }

    #[test]
    fn what_is_no_literal_is_a_fault_with_its_place() {
        fails("", FaultKind::End, 0);
        fails("[1, 2", FaultKind::End, 5);
        fails("[1 2]", FaultKind::Unexpected, 3);
        fails("[,]", FaultKind::Unexpected, 1);
        fails("[1,,2]", FaultKind::Unexpected, 3);
        fails("(,)", FaultKind::Unexpected, 1);
        fails("[1)", FaultKind::Unexpected, 2);
        fails("1, 2", FaultKind::Unexpected, 1);
        fails("]", FaultKind::Unexpected, 0);
        fails("[1] [2]", FaultKind::Unexpected, 4);
        fails("{'a': 1, 'b'}", FaultKind::Unexpected, 12);
        fails("{'a', 'b': 1}", FaultKind::Unexpected, 9);
        fails("{'a': }", FaultKind::Unexpected, 6);
        fails("{'a': 1: 2}", FaultKind::Unexpected, 7);
        fails("{'a':: 1}", FaultKind::Unexpected, 5);
        fails("{[1]: 2}", FaultKind::Key, 4);
        fails("{(1, 2): 3}", FaultKind::Key, 7);
        fails("[a]", FaultKind::Name, 1);
        fails("[datetime.datetime(2024, 1, 2)]", FaultKind::Name, 1);
        fails("[1 + 2]", FaultKind::Unexpected, 3);
        fails("['a' 'b']", FaultKind::Unexpected, 5);
        fails("[true]", FaultKind::Name, 1);
        assert_eq!(python_to_json("[1,\n  x]").unwrap_err().place("[1,\n  x]"), (2, 3));
    }

    #[test]
    fn depth_is_bounded_and_nothing_calls_itself() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(python_to_json(&deep(crate::MAX_DEPTH)).is_ok());
        fails(&deep(crate::MAX_DEPTH + 1), FaultKind::Depth, crate::MAX_DEPTH);
        fails(&"(".repeat(1_000_000), FaultKind::Depth, crate::MAX_DEPTH);
    }
}
