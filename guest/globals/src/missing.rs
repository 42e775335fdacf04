//! What is said of a tool or a server that is not there.

use boa_engine::{Context, JsError, JsObject, JsResult, JsString, JsValue};

use belljar_guest_algorithms::nearest::nearest;
use belljar_guest_bindings::MissingTool;
use belljar_guest_engine::{
    objects::{put_hidden, with_hint},
    originals::own_data_property,
};

use super::servers::{PROBED, RELEASE, directory, is_lock, server_name, servers};

/// What is said of a tool that is not there: what happened, and what to try.
pub struct Unknown {
    pub message: String,
    pub hint: String,
    pub missing: MissingTool,
}

impl Unknown {
    fn tool(number: u32, name: &str) -> Self {
        let server = server_name(number);
        let mut near = None;
        let hint = match directory(number) {
            Ok(directory) => match nearest(name, directory.split('\n').filter(|name| *name != RELEASE)) {
                Some(found) => {
                    near = Some(found.to_owned());
                    format!("did you mean {server}.{found}?")
                }
                None => listed(&server, &directory),
            },
            Err(reason) => reason,
        };
        let message = format!("{server}.{name} is not a function: there is no such tool");
        Self { message, hint, missing: MissingTool { server, tool: name.to_owned(), near } }
    }
}

/// What is said of a call of a tool that is not there; nothing of a name that is read of every
/// object.
pub fn unknown_tool(number: u32, name: &str) -> Option<Unknown> {
    (!PROBED.contains(&name)).then(|| Unknown::tool(number, name))
}

/// The error of a tool that is not there, which says which.
pub(super) fn unknown(number: u32, name: &str, context: &mut Context) -> JsError {
    let Unknown { message, hint, missing } = Unknown::tool(number, name);
    let error = with_hint(&message, &hint, context);
    match error.as_opaque().and_then(JsValue::as_object) {
        Some(object) => put_missing(&object, missing, context).err().unwrap_or(error),
        None => error,
    }
}

/// Which tool is not there, as hidden properties of the error that says so.
pub(super) fn put_missing(error: &JsObject, missing: MissingTool, context: &mut Context) -> JsResult<()> {
    let MissingTool { server, tool, near } = missing;
    put_hidden(error, "server", JsString::from(server), context)?;
    put_hidden(error, "tool", JsString::from(tool), context)?;
    match near {
        Some(near) => put_hidden(error, "near", JsString::from(near), context),
        None => Ok(()),
    }
}

/// Which tool is not there, of an error that says so.
pub fn missing_of(error: &JsObject, context: &mut Context) -> Option<MissingTool> {
    let mut text = |name: &str| {
        let value = own_data_property(error, JsString::from(name), context)?;
        Some(value.as_string()?.to_std_string_lossy())
    };
    Some(MissingTool { server: text("server")?, tool: text("tool")?, near: text("near") })
}

/// What is said of a path whose server is not there.
pub fn texts_of_no_server(server: &str) -> (String, String) {
    let known = servers();
    let near = nearest(server, known.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
    let hint = near.unwrap_or_else(|| format!("the servers here are: {}", known.join(", ")));
    (format!("there is no server '{server}'"), hint)
}

/// The names of a server's tools, as far as they are few.
fn listed(server: &str, directory: &str) -> String {
    const MOST: usize = 40;
    let mut names: Vec<&str> = directory.split('\n').filter(|name| is_plain(name) && !is_lock(name)).collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let rest = if more > 0 { format!(", and {more} more: see tools.list({server:?})") } else { String::new() };
    format!("{server} has {}{rest}", names.join(", "))
}

/// Whether a name can stand after a dot. (A tool whose name cannot has an alias that can.)
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
}
