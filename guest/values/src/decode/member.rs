//! One member of a JSON object, found without building the others.

use super::reader::{Encoding, Reader, Text};

/// The texts of the members `names` of the JSON object `text`, or nothing where the text is none or
/// says a key in a way that would have to be decoded. Of members of one name the last counts, as in
/// `JSON.parse`.
///
/// It is not generic, so that it is compiled here, together with the reader.
pub fn members<'text>(text: &'text str, names: [&str; 2]) -> Option<[Option<&'text str>; 2]> {
    all(text, names)
}

fn all<'text, const N: usize>(text: &'text str, names: [&str; N]) -> Option<[Option<&'text str>; N]> {
    let mut reader = Reader::new(text.as_bytes(), Encoding::Utf8);
    let mut found = [None; N];
    if reader.next() != Some(b'{') {
        return None;
    }
    reader.skip();
    if reader.next() == Some(b'}') {
        reader.skip();
        return reader.next().is_none().then_some(found);
    }
    loop {
        if reader.next() != Some(b'"') {
            return None;
        }
        reader.skip();
        let Text::Plain(key) = reader.string().ok()? else { return None };
        if reader.next() != Some(b':') {
            return None;
        }
        reader.skip();
        let value = text.get(reader.raw_value().ok()?)?;
        if let Some(place) = names.iter().position(|name| name.as_bytes() == key) {
            *found.get_mut(place)? = Some(value);
        }
        match reader.next() {
            Some(b',') => reader.skip(),
            Some(b'}') => {
                reader.skip();
                return reader.next().is_none().then_some(found);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_whatever_stands_beside_them() {
        for (text, expected) in [
            (r#"{"a":1}"#, Some([Some("1"), None])),
            (r#"{}"#, Some([None, None])),
            (
                r#" { "b" : [ {"a": 2}, "]}" ] , "a":{"b":"\\"} } "#,
                Some([Some(r#"{"b":"\\"}"#), Some(r#"[ {"a": 2}, "]}" ]"#)]),
            ),
            (r#"{"a":"x","a":true}"#, Some([Some("true"), None])),
            (r#"{"x":"a\"}","a":null,"b":-1.5e3}"#, Some([Some("null"), Some("-1.5e3")])),
            (r#"{"\u0061":1}"#, None),
            (r#"{"é":1,"a":2}"#, None),
            (r#"{"a":1}x"#, None),
            (r#"[{"a":1}]"#, None),
            (r#"{"a":1"#, None),
            (r#"{"a":[1}"#, None),
            (r#"{"a"}"#, None),
            ("", None),
        ] {
            assert_eq!(members(text, ["a", "b"]), expected, "{text}");
        }
    }

    #[test]
    fn what_is_found_is_what_a_whole_parse_finds() {
        let value = serde_json::json!({
            "content": [{ "type": "text", "text": "a \"quoted\" } ] text\n" }, { "n": [1, [2, {}], []] }],
            "structuredContent": { "items": [{ "id": 1, "s": "\\" }, null, true, 1.5, "é"], "empty": {} },
            "isError": false,
        });
        let text = value.to_string();
        let [content, structured, error] =
            all(&text, ["content", "structuredContent", "isError"]).expect("an object").map(Option::unwrap);
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(parsed(content), value["content"]);
        assert_eq!(parsed(structured), value["structuredContent"]);
        assert_eq!(error, "false");
    }
}
