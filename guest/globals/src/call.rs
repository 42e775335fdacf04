//! A call of a tool, from its arguments to what a programmer wants of its result.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use boa_engine::{
    Context, JsError, JsNativeError, JsResult, JsString, JsValue, JsVariant, NativeFunction,
    builtins::promise::ResolvingFunctions,
    js_string,
    object::builtins::{JsArray, JsPromise},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_bindings::belljar::sandbox::{
    catalog, console,
    tools::{CallError, Tool},
};
use belljar_guest_engine::{
    call_site::CallSite,
    objects::{self, put_hidden},
    originals::own_data_property,
    place,
};
use belljar_guest_values::{decode, encode};

use super::{
    answers, results,
    servers::{self, ToolRef},
    skills,
    spread::{self, Spread},
    tool_error::{self, located, refused},
};
use crate::pending::{self, Call};

/// Calls that are named when they are still running at the end.
const MAX_NAMED: usize = 5;

thread_local! {
    /// Whether tools only read, of which that was asked.
    static READS: RefCell<BTreeMap<String, bool>> = const { RefCell::new(BTreeMap::new()) };
    /// The servers of whose overlapping calls the log has told.
    static OVERLAPPED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
    static ANY_WAS_CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Calls a tool; the value is a promise of its result, or of those of all projects where the
/// arguments ask for them.
pub(super) fn call(tool: &ToolRef, raw: bool, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (promise, settle) = JsPromise::new_pending(context);
    match prepare(tool, arguments, context) {
        Ok((handle, text)) => {
            let form = tool.form();
            if !(form.positional || form.plain)
                && spread::may_be_wanted(&text)
                && let Some(wanted) = spread::wanted(tool, arguments, context)
            {
                return call_of_all(tool, raw, wanted, context);
            }
            let site = CallSite::here(context)?;
            ANY_WAS_CALLED.set(true);
            if servers::shares_state(tool) {
                warn_of_overlap(tool, &site, context);
            }
            place::tell(context);
            let mut is_of_skill = false;
            if tool.server == skills::SERVER {
                match skills::begin(&tool.name, &text, &site, context) {
                    Ok(is_one) => is_of_skill = is_one,
                    Err(circle) => {
                        let error = refused(site, &circle.message, Some(circle.hint), context)?;
                        let reason = error.into_opaque(context)?;
                        settle.reject.call(&JsValue::undefined(), &[reason], context)?;
                        return Ok(promise.into());
                    }
                }
            }
            pending::begin_call(&handle, &text, Call { tool: tool.clone(), site, settle, raw, is_of_skill });
        }
        Err(error) => {
            let reason = located(error, context)?;
            let is_misshapen = !tool.form().positional
                && (arguments.len() != 1 || arguments.first().is_some_and(|only| other_than_object(only).is_some()));
            if is_misshapen && let Some((reason, hint)) = reason.as_object().zip(signature_hint(tool, context)) {
                put_hidden(&reason, "hint", JsString::from(hint), context)?;
            }
            settle.reject.call(&JsValue::undefined(), &[reason], context)?;
        }
    }
    Ok(promise.into())
}

/// Calls a tool once for each project; the value is a promise of what became of each.
fn call_of_all(tool: &ToolRef, raw: bool, wanted: Spread, context: &mut Context) -> JsResult<JsValue> {
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, arguments, (tool, raw): &(Captured, bool), context| call(&tool.0, *raw, arguments, context),
        (Captured(tool.clone()), raw),
    );
    let one = objects::function(&tool.name, 1, native, context);
    spread::calls(wanted, one, context)
}

#[derive(Trace, Finalize)]
struct Captured(#[unsafe_ignore_trace] ToolRef);

/// Settles the promise of a call.
pub fn answer(call: Call, result: Result<String, CallError>, context: &mut Context) -> JsResult<()> {
    let Call { tool, site, settle, raw, is_of_skill } = call;
    if is_of_skill
        && let Some(begun) = skills::taken(&site)
        && result.is_ok()
    {
        return skills::run(begun, &site, &settle, context);
    }
    let settled = match result {
        Ok(text) if skills::is_missing(&tool, &text) => {
            let (message, hint) = skills::missing(&tool);
            Err(tool_error::tool_error(site, &tool, &message, JsValue::undefined(), Some(hint), context)?)
        }
        Ok(text) => {
            let value = answers::value_in(&tool, raw, site, &text, context);
            if value.is_ok() {
                results::keep(tool, raw, text);
            }
            value
        }
        Err(CallError { message, denied: Some(denied), .. }) => {
            Err(tool_error::policy_error(site, &tool, &message, &denied, context)?)
        }
        Err(error) if error.refused => Err(refused(site, &error.message, error.hint.as_deref(), context)?),
        Err(error) => {
            let (message, hint) = (&error.message, error.hint.as_deref());
            if let Some(name) = error.name.as_deref().filter(|_| tool.form().plain) {
                let error = tool_error::named(site, name, message, hint, context)?;
                let reason = error.into_opaque(context)?;
                return settle.reject.call(&JsValue::undefined(), &[reason], context).map(|_| ());
            }
            Err(tool_error::tool_error(site, &tool, message, JsValue::undefined(), hint, context)?)
        }
    };
    match settled {
        Ok(value) => resolve(&settle, value, context),
        Err(error) => {
            let reason = error.into_opaque(context)?;
            settle.reject.call(&JsValue::undefined(), &[reason], context).map(|_| ())
        }
    }
}

/// Whether any tool has been called.
pub(crate) fn any_was_called() -> bool {
    ANY_WAS_CALLED.get()
}

/// The calls that have no answer yet, named with their lines: `fs.write_file (line 3), …`.
pub fn running(context: &mut Context) -> String {
    let calls = pending::name_calls(|Call { tool, site, .. }| (tool.shown(), site.clone()));
    let mut named: Vec<String> = Vec::new();
    for (tool, site) in calls.iter().take(MAX_NAMED) {
        match site.position(context) {
            Some(position) => named.push(format!("{tool} (line {})", position.line)),
            None => named.push(tool.clone()),
        }
    }
    let more = calls.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

/// Says, once for each server, which two calls share its state and do not wait for each other.
fn warn_of_overlap(tool: &ToolRef, site: &CallSite, context: &mut Context) {
    let server = tool.server.as_str();
    if OVERLAPPED.with_borrow(|told| told.contains(server)) {
        return;
    }
    let calls = pending::name_calls(|Call { tool: other, site, .. }| {
        servers::are_of_one_server(tool, other).then(|| (other.name.clone(), site.clone()))
    });
    // Calls that only read leave each other what they read.
    let reads = only_reads(server, &tool.name, context);
    let mixes = |(other, _): &(String, CallSite)| !(reads && only_reads(server, other, context));
    let Some((other, other_site)) = calls.into_iter().flatten().find(mixes) else { return };
    OVERLAPPED.with_borrow_mut(|told| told.insert(server.to_owned()));
    let mut named = |name: &str, site: &CallSite| match site.position(context) {
        Some(position) => format!("{name} (line {})", position.line),
        None => name.to_owned(),
    };
    let (first, second) = (named(&other, &other_site), named(&tool.name, site));
    console::write(
        console::Level::Warn,
        &format!(
            "{server} keeps one state for all calls, and two of them overlap: {first} and {second}, so what they give may be mixed up: \
             await them one after the other, or put what belongs together into {server}.$exclusive(async () => {{ … }})"
        ),
    );
}

/// Whether a tool changes nothing, by what is shown of it.
fn only_reads(server: &str, name: &str, context: &mut Context) -> bool {
    let path = format!("{server}.{name}");
    if let Some(known) = READS.with_borrow(|known| known.get(&path).copied()) {
        return known;
    }
    let described =
        catalog::describe(&path).ok().and_then(|text| decode::decode(&text, context).ok()?.value.as_object());
    let effect =
        described.and_then(|described| own_data_property(&described, js_string!("effect"), context)?.as_string());
    let reads = effect.is_some_and(|effect| effect == js_string!("read_only"));
    READS.with_borrow_mut(|known| known.insert(path, reads));
    reads
}

/// Resolves the promise of a call with data. Data is no promise, whatever a script has made of
/// `Object.prototype.then`.
pub(super) fn resolve(settle: &ResolvingFunctions, value: JsValue, context: &mut Context) -> JsResult<()> {
    let then = js_string!("then");
    let shielded = match value.as_object() {
        Some(object)
            if object.has_property(then.clone(), context)? && !object.has_own_property(then.clone(), context)? =>
        {
            object.create_data_property_or_throw(then.clone(), JsValue::undefined(), context)?;
            Some(object)
        }
        _ => None,
    };
    settle.resolve.call(&JsValue::undefined(), &[value], context)?;
    match shielded {
        Some(object) => object.delete_property_or_throw(then, context).map(|_| ()),
        None => Ok(()),
    }
}

/// Checks the arguments and opens the tool's handle.
fn prepare(tool: &ToolRef, arguments: &[JsValue], context: &mut Context) -> JsResult<(Rc<Tool>, String)> {
    let tool_name = tool.shown();
    let takes = |got: &str| {
        let message =
            format!("{tool_name} takes one object with named arguments, as in {tool_name}({{ … }}), and got {got}");
        JsError::from(JsNativeError::typ().with_message(message))
    };
    let form = tool.form();
    let opening = if form.positional { '[' } else { '{' };
    let encoded = |value: &JsValue, context: &mut Context| {
        let is_extended = form.positional || form.plain;
        let what = format!("the arguments of {tool_name}");
        let (text, lost) = encode::arguments(value, &what, servers::max_arguments(), is_extended, context)?;
        if let Some(lost) = lost {
            console::write(console::Level::Warn, &lost);
        }
        Ok::<String, JsError>(text)
    };
    let text = match arguments {
        all if form.positional => {
            let all = JsArray::from_iter(all.iter().cloned(), context);
            encoded(&all.into(), context)?
        }
        [] => "{}".to_owned(),
        [only] if only.is_undefined() => "{}".to_owned(),
        [only] => match other_than_object(only) {
            Some(got) => return Err(takes(got)),
            None => encoded(only, context)?,
        },
        several => return Err(takes(&format!("{} arguments", several.len()))),
    };
    if !text.starts_with(opening) {
        let shape = if form.positional { "array" } else { "object" };
        let message = format!("the arguments of {tool_name} are not a JSON {shape}");
        return Err(JsNativeError::typ().with_message(message).into());
    }
    let handle = servers::open(tool).map_err(|message| JsNativeError::error().with_message(message))?;
    Ok((handle, text))
}

/// The tool's declaration on one line, for an author who did not know it.
fn signature_hint(tool: &ToolRef, context: &mut Context) -> Option<String> {
    let described = catalog::describe(&format!("{}.{}", tool.server, tool.name)).ok()?;
    let described = decode::decode(&described, context).ok()?.value.as_object()?;
    let signature = own_data_property(&described, js_string!("signature"), context)?.as_string()?;
    Some(format!("the tool is {}", signature.to_std_string_lossy()))
}

/// What a value is, if it is not an object that could hold named arguments.
fn other_than_object(value: &JsValue) -> Option<&'static str> {
    match value.variant() {
        JsVariant::Object(object) if object.is_callable() => Some("a function"),
        JsVariant::Object(object) if object.is_array() => Some("an array"),
        JsVariant::Object(_) => None,
        JsVariant::Null => Some("null"),
        JsVariant::Undefined => Some("undefined"),
        JsVariant::Boolean(_) => Some("a boolean"),
        JsVariant::String(_) => Some("a string"),
        JsVariant::Symbol(_) => Some("a symbol"),
        JsVariant::BigInt(_) | JsVariant::Integer32(_) | JsVariant::Float64(_) => Some("a number"),
    }
}
