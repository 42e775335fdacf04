//! `tools`: what there is to call, as data, calls by path, and what reads the texts that tools
//! answer with.

use boa_engine::{Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string};

use belljar_guest_bindings::belljar::sandbox::catalog;
use belljar_guest_engine::{objects, originals};
use belljar_guest_values::decode;

use super::{call::call, missing, namespace, servers, skills, spread};

/// Characters of a query, a path or a name that the host is asked with; it bounds them again.
const MAX_QUESTION: usize = 8_000;
/// Results of `tools.search` where the script names no number.
const DEFAULT_RESULTS: u32 = 10;

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let tools = JsObject::with_object_proto(context.intrinsics());
    let methods: [(&str, usize, objects::Native); 7] = [
        ("list", 1, list),
        ("search", 2, search),
        ("describe", 1, describe),
        ("route", 2, spread::route),
        ("parse", 1, super::parse::parse),
        ("call", 2, |_, arguments, context| by_path("tools.call", false, arguments, context)),
        ("raw", 2, |_, arguments, context| by_path("tools.raw", true, arguments, context)),
    ];
    for (name, length, native) in methods {
        let method = objects::function(name, length, NativeFunction::from_fn_ptr(native), context);
        objects::put(&tools, name, method, context)?;
    }
    objects::define("tools", tools, context)
}

fn list(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let server = match arguments.first() {
        None => None,
        Some(server) if server.is_undefined() => None,
        Some(server) => match server.as_object() {
            // `tools.list({ server: "fs" })`
            Some(options) => options.get(js_string!("server"), context)?.as_string(),
            None => Some(server.to_string(context)?),
        },
    };
    let server = server.map(|server| question(&server));
    let answer = catalog::list(server.as_deref()).map_err(refused)?;
    decode::decode(&answer, context).map(|decoded| decoded.value)
}

fn search(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let query = arguments.first().cloned().unwrap_or_default().to_string(context)?;
    let limit = match arguments.get(1) {
        None => None,
        Some(limit) => match limit.as_object() {
            Some(options) => options.get(js_string!("limit"), context)?.as_number(),
            None => limit.as_number(),
        },
    };
    let limit = limit.map_or(DEFAULT_RESULTS, |limit| limit.clamp(1.0, 100.0) as u32);
    decode::decode(&catalog::search(&question(&query), limit), context).map(|decoded| decoded.value)
}

fn describe(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let path = path("tools.describe", arguments)?;
    let asked = question(&path);
    let answer = match catalog::describe(&asked) {
        Ok(answer) => answer,
        Err(message) => return Err(undescribed(&path.to_std_string_lossy(), message, context)),
    };
    let described = decode::decode(&answer, context)?.value;
    if asked.starts_with(skills::SERVER) {
        skills::shown(&described, context)?;
    }
    Ok(described)
}

/// The error of a path that leads to no tool, with the nearest one.
fn undescribed(path: &str, message: String, context: &mut Context) -> JsError {
    // The host names the nearest tool itself.
    if message.contains("did you mean") {
        return refused(message);
    }
    let Some((server, tool)) = path.split_once('.') else {
        let hint = match servers::server_of(path) {
            Some(server) => format!("{path} is a server: tools.list({server:?}) names its tools"),
            None => format!("a path is \"server.tool\"; the servers here are: {}", servers::servers().join(", ")),
        };
        return objects::with_hint(&message, &hint, context);
    };
    // Why a call of it fails is why it is not described.
    let reason = namespace::find(server, tool, context).err();
    let reason = reason.and_then(|error| error.as_opaque().and_then(JsValue::as_object));
    let hint =
        reason.as_ref().and_then(|error| originals::own_data_property(error, js_string!("hint"), context)?.as_string());
    let Some(hint) = hint else { return refused(message) };
    let error = objects::with_hint(&message, &hint.to_std_string_lossy(), context);
    let missing = reason.and_then(|reason| missing::missing_of(&reason, context));
    match (missing, error.as_opaque().and_then(JsValue::as_object)) {
        (Some(missing), Some(object)) => missing::put_missing(&object, missing, context).err().unwrap_or(error),
        _ => error,
    }
}

fn by_path(name: &str, raw: bool, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let path = path(name, arguments)?.to_std_string_lossy();
    let Some((server, tool)) = path.split_once('.') else {
        return Err(JsNativeError::typ()
            .with_message(format!("{name}: '{path}' is not a tool path, such as \"fs.read_file\""))
            .into());
    };
    let tool = namespace::find(server, tool, context)?;
    call(&tool, raw, arguments.get(1..).unwrap_or_default(), context)
}

fn path(name: &str, arguments: &[JsValue]) -> JsResult<JsString> {
    arguments.first().and_then(JsValue::as_string).ok_or_else(|| {
        JsNativeError::typ().with_message(format!("{name} takes a tool's path first, such as \"fs.read_file\"")).into()
    })
}

fn question(text: &JsString) -> String {
    text.to_std_string_lossy().chars().take(MAX_QUESTION).collect()
}

fn refused(message: String) -> JsError {
    JsNativeError::typ().with_message(message).into()
}
