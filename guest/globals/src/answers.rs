//! What a programmer wants of the answer of a tool.

use std::{cell::RefCell, collections::BTreeSet};

use boa_engine::{Context, JsResult, JsString, JsValue, js_string};

use belljar_guest_bindings::belljar::sandbox::console;
use belljar_guest_engine::{call_site::CallSite, plain};
use belljar_guest_values::decode::{self, Decoded};

use super::{
    servers::ToolRef,
    tool_error::{refused, tool_error},
    unread,
};

/// Where the value of a result stands that has a structure.
const STRUCTURED: &str = "$.structuredContent";

thread_local! {
    /// The tools of whose large integers the log has told.
    static WARNED: RefCell<BTreeSet<(String, String)>> = const { RefCell::new(BTreeSet::new()) };
}

/// What a script gets of an answer.
pub(super) fn value_in(
    tool: &ToolRef,
    raw: bool,
    site: CallSite,
    text: &str,
    context: &mut Context,
) -> JsResult<JsValue> {
    if tool.form().plain {
        return plain_value(tool, site, text, context);
    }
    match structured_content(text).filter(|_| !raw) {
        Some(structured) => decoded(tool, structured, context),
        None if raw => decoded(tool, text, context),
        None => decoded(tool, text, context).and_then(|result| value_of(tool, site, result, context)),
    }
}

/// The value that a host has given as it is.
fn plain_value(tool: &ToolRef, site: CallSite, text: &str, context: &mut Context) -> JsResult<JsValue> {
    let Decoded { value, large } = match decode::extended(text, context) {
        Ok(decoded) => decoded,
        Err(error) => {
            let what = error.as_native().map_or_else(|| error.to_string(), |native| native.message().to_owned());
            return Err(refused(site, &format!("{}: {what}", tool.shown()), None, context)?);
        }
    };
    if large.count > 0 && WARNED.with_borrow_mut(|warned| warned.insert((tool.server.clone(), tool.name.clone()))) {
        let text = format!(
            "{} answered with an integer that a number cannot hold, and that was rounded: {} at {}",
            tool.shown(),
            large.digits,
            large.first
        );
        console::write(console::Level::Warn, &text);
    }
    Ok(value)
}

/// The value of a JSON text from a child. What had to become another type than it has there is said
/// in the log.
fn decoded(tool: &ToolRef, text: &str, context: &mut Context) -> JsResult<JsValue> {
    let Decoded { value, large } = decode::decode(text, context)?;
    if large.count > 0 && WARNED.with_borrow_mut(|warned| warned.insert((tool.server.clone(), tool.name.clone()))) {
        let ToolRef { server, name, .. } = tool;
        let place = large.first.replacen(STRUCTURED, "$", 1);
        let (count, first) = match large.count {
            1 => ("an integer".to_owned(), "it is"),
            count => (format!("{count} integers"), "the first is"),
        };
        console::write(
            console::Level::Warn,
            &format!(
                "{server}.{name} answered with {count} beyond 2^53, which a number cannot hold: given as a string of its digits \
                 ({first} at {place})"
            ),
        );
    }
    Ok(value)
}

/// The text of a result's `structuredContent`, where that is what a programmer wants of it: the
/// rest, which mostly says the same once more as text, need not be decoded.
fn structured_content(text: &str) -> Option<&str> {
    let [structured, is_error] = decode::members(text, ["structuredContent", "isError"])?;
    let is_success = is_error.is_none_or(|is_error| is_error == "false");
    structured.filter(|structured| is_success && *structured != "null")
}

/// What a programmer wants of a `CallToolResult`: `structuredContent` where there is some; else a
/// text that is a JSON object or array, parsed; else the text; else the list of content blocks. A
/// reported failure is thrown.
fn value_of(tool: &ToolRef, site: CallSite, result: JsValue, context: &mut Context) -> JsResult<JsValue> {
    let Some(result) = result.as_object() else { return Ok(result) };
    let member = |key: JsString| plain::member(&result, &key.into()).unwrap_or_default();
    let content = member(js_string!("content"));
    let text = joined_text(&content, context)?;
    if member(js_string!("isError")).to_boolean() {
        let message = text
            .or_else(|| first_text(&content, context))
            .unwrap_or_else(|| "the tool reported an error without a text".to_owned());
        return Err(tool_error(site, tool, &message, content, None, context)?);
    }
    let structured = member(js_string!("structuredContent"));
    if !structured.is_null_or_undefined() {
        return Ok(structured);
    }
    let Some(text) = text else { return Ok(content) };
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = decoded(tool, &text, context)
    {
        return Ok(value);
    }
    let text = JsString::from(text.as_str());
    unread::gave_text(tool, &text);
    Ok(text.into())
}

/// The texts of all content blocks, a line each, if there are any and there is nothing but text.
fn joined_text(content: &JsValue, context: &mut Context) -> JsResult<Option<String>> {
    let Some(blocks) = content.as_object() else { return Ok(None) };
    let length = blocks.get(js_string!("length"), context)?.to_length(context)?;
    let mut joined = String::new();
    for index in 0..length {
        let Some(text) = text_of_block(&blocks.get(index, context)?) else { return Ok(None) };
        if index > 0 {
            joined.push('\n');
        }
        joined.push_str(&text.to_std_string_lossy());
    }
    Ok((length > 0).then_some(joined))
}

/// The first text among the content blocks: of an error, it says the most.
fn first_text(content: &JsValue, context: &mut Context) -> Option<String> {
    let blocks = content.as_object()?;
    let length = blocks.get(js_string!("length"), context).ok()?.to_length(context).ok()?;
    let text = (0..length).find_map(|index| text_of_block(&blocks.get(index, context).ok()?))?;
    Some(text.to_std_string_lossy())
}

fn text_of_block(block: &JsValue) -> Option<JsString> {
    plain::member(&block.as_object()?, &js_string!("text").into())?.as_string()
}
