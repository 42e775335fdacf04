//! `toLowerCase` and `toUpperCase`. Plain text is mapped byte by byte; all other is left to what
//! Unicode says of whole texts.

use boa_engine::{
    Context, JsResult, JsString, JsValue,
    string::{JsStr, JsStrVariant},
};

use super::coercible;

pub(super) fn to_lower_case(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    Ok(mapped(&text, <[u8]>::to_ascii_lowercase, |text| text.to_lowercase()).into())
}

pub(super) fn to_upper_case(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    Ok(mapped(&text, <[u8]>::to_ascii_uppercase, |text| text.to_uppercase()).into())
}

fn mapped(text: &JsString, ascii: fn(&[u8]) -> Vec<u8>, unicode: fn(String) -> String) -> JsString {
    match text.variant() {
        JsStrVariant::Latin1(bytes) if bytes.is_ascii() => JsString::from(JsStr::latin1(&ascii(bytes))),
        _ => text.map_valid_segments(unicode),
    }
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::same_as_node;

    #[test]
    fn maps_case_as_node_does() {
        let mut scripts: Vec<String> = Vec::new();
        for text in
            ["'Hello, World 12'", "''", "'Straße ÀÉ'", "'ΑΣ ΌΔΟΣ'", "'ﬁ İ ı ŉ'", "'\\ud83dA\\udE00b'", "'𐐀𐐨'", "'ÿµ'"]
        {
            for method in ["toLowerCase", "toUpperCase", "toLocaleLowerCase", "toLocaleUpperCase"] {
                scripts.extend([format!("JSON.stringify({text}.{method}())")]);
            }
        }
        same_as_node(&scripts);
        same_as_node(&["''.toLowerCase.call(null)", "''.toUpperCase.call(12.5e30)"]);
    }
}
