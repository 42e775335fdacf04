//! `repeat`. The engine lists each repetition before it joins them, which takes many times the
//! memory of a long result.

use boa_engine::{
    Context, JsError, JsNativeError, JsResult, JsString, JsValue,
    string::{JsStr, JsStrVariant},
    value::IntegerOrInfinity,
};

use super::{argument, coercible};

/// What the engine allows a string to have.
const MAX_UNITS: u64 = u32::MAX as u64;

pub(super) fn repeat(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = coercible(this)?.to_string(context)?;
    let count = match argument(arguments, 0).to_integer_or_infinity(context)? {
        IntegerOrInfinity::Integer(count) if count >= 0 => u64::try_from(count).unwrap_or(u64::MAX),
        _ => return Err(JsNativeError::range().with_message("repeat takes a finite number, zero or above").into()),
    };
    if count == 0 || text.is_empty() {
        return Ok(JsString::default().into());
    }
    let length = count.checked_mul(text.len() as u64).filter(|length| *length <= MAX_UNITS).ok_or_else(too_long)?;
    let length = usize::try_from(length).map_err(|_| too_long())?;
    Ok(match text.variant() {
        JsStrVariant::Latin1(bytes) => JsString::from(JsStr::latin1(&repeated(bytes, length)?)),
        JsStrVariant::Utf16(units) => JsString::from(JsStr::utf16(&repeated(units, length)?)),
    }
    .into())
}

/// So many units, which are a whole number of repetitions.
fn repeated<T: Copy>(units: &[T], length: usize) -> JsResult<Vec<T>> {
    let mut result = Vec::new();
    // The script has chosen the length: that there is no room for it is no reason to stop at once.
    result.try_reserve_exact(length).map_err(|_| too_long())?;
    result.extend_from_slice(units);
    while result.len() < length {
        let part = result.len().min(length - result.len());
        result.extend_from_within(..part);
    }
    Ok(result)
}

fn too_long() -> JsError {
    JsNativeError::range().with_message("the repeated text would be too long").into()
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::same_as_node;

    #[test]
    fn repeats_as_node_does() {
        let mut scripts = Vec::new();
        for text in ["'ab'", "''", "'λ'", "'é'", "12", "'a'"] {
            for count in
                ["0", "1", "3", "7.9", "-1", "-0.5", "Infinity", "-Infinity", "NaN", "undefined", "2 ** 40", "'2'"]
            {
                scripts.push(format!("String({text}).repeat({count})"));
            }
        }
        scripts.push("''.repeat.call(null, 1)".to_owned());
        scripts.push("''.repeat(2 ** 28)".to_owned());
        same_as_node(&scripts);
    }
}
