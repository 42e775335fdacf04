//! `console`: each call becomes one entry of the run's logs, as Node would print it.

mod table;

use std::{cell::RefCell, collections::BTreeMap, time::Instant};

use boa_engine::{
    Context, JsResult, JsString, JsSymbol, JsValue, NativeFunction, js_string, property::PropertyDescriptor,
};
use glass::Level;

use belljar_guest_bindings::belljar::sandbox::console as glass;
use belljar_guest_engine::{
    errors,
    objects::{self, Native, put_hidden},
};
use belljar_guest_values::inspect;

/// Levels of groups that are indented; deeper ones are as deep as these.
const MAX_GROUPS: usize = 32;
/// Labels of counters and of timers that are kept.
const MAX_LABELS: usize = 1_000;

/// What the calls so far have left.
#[derive(Default)]
struct State {
    groups: usize,
    counts: BTreeMap<String, u64>,
    timers: BTreeMap<String, Instant>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let console = boa_engine::JsObject::with_object_proto(context.intrinsics());
    let methods: [(&str, Native); 20] = [
        ("log", |_, arguments, context| write(Level::Log, arguments, context)),
        ("info", |_, arguments, context| write(Level::Info, arguments, context)),
        ("warn", |_, arguments, context| write(Level::Warn, arguments, context)),
        ("error", |_, arguments, context| write(Level::Error, arguments, context)),
        ("debug", |_, arguments, context| write(Level::Debug, arguments, context)),
        ("dirxml", |_, arguments, context| write(Level::Log, arguments, context)),
        ("dir", dir),
        ("trace", trace),
        ("assert", assert),
        ("table", table),
        ("group", group),
        ("groupCollapsed", group),
        ("groupEnd", group_end),
        ("count", count),
        ("countReset", count_reset),
        ("time", time),
        ("timeLog", time_log),
        ("timeEnd", time_end),
        ("timeStamp", nothing),
        ("clear", nothing),
    ];
    for (name, method) in methods {
        let method = objects::function(name, 0, NativeFunction::from_fn_ptr(method), context);
        objects::put(&console, name, method, context)?;
    }
    let tag = PropertyDescriptor::builder().value(js_string!("console")).writable(false).enumerable(false);
    console.define_property_or_throw(JsSymbol::to_string_tag(), tag.configurable(true).build(), context)?;
    objects::define("console", console, context)
}

/// Logs something that nobody could catch.
pub(super) fn report(message: &str) {
    emit(Level::Error, message);
}

/// One entry of the logs, within the groups that are open.
fn emit(level: Level, text: &str) {
    let groups = STATE.with_borrow(|state| state.groups);
    if groups == 0 {
        return hand_over(level, text);
    }
    let indentation = "  ".repeat(groups);
    hand_over(level, &format!("{indentation}{}", text.replace('\n', &format!("\n{indentation}"))));
}

#[cfg(target_family = "wasm")]
fn hand_over(level: Level, text: &str) {
    glass::write(level, text);
}

#[cfg(not(target_family = "wasm"))]
thread_local! {
    /// What was logged where there is no host, for tests.
    static LOGGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[cfg(not(target_family = "wasm"))]
fn hand_over(_: Level, text: &str) {
    LOGGED.with_borrow_mut(|logged| logged.push(text.to_owned()));
}

/// What was logged since this was asked last.
#[cfg(not(target_family = "wasm"))]
pub fn take_logged() -> Vec<String> {
    LOGGED.take()
}

fn write(level: Level, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    emit(level, &inspect::format(arguments, context));
    Ok(JsValue::undefined())
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

fn dir(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.first().cloned().unwrap_or_default();
    let depth = match arguments.get(1).and_then(JsValue::as_object) {
        Some(options) => options.get(js_string!("depth"), context)?,
        None => JsValue::undefined(),
    };
    let shown = match depth.as_number() {
        Some(depth) => inspect::deep(&value, depth.max(0.0) as usize, context),
        None if depth.is_null() => inspect::deep(&value, usize::MAX, context),
        None => inspect::nested(&value, context),
    };
    emit(Level::Log, &shown);
    Ok(JsValue::undefined())
}

fn trace(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let message = inspect::format(arguments, context);
    let constructor = context.intrinsics().constructors().error().constructor();
    let here = constructor.construct(&[JsString::from(message).into()], None, context)?;
    put_hidden(&here, "name", js_string!("Trace"), context)?;
    emit(Level::Debug, &errors::stack_text(&here, context));
    Ok(JsValue::undefined())
}

fn assert(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if arguments.first().is_some_and(JsValue::to_boolean) {
        return Ok(JsValue::undefined());
    }
    let mut details = arguments.get(1..).unwrap_or_default().to_vec();
    match details.first().and_then(JsValue::as_string) {
        Some(first) => details[0] = js_string!(&js_string!("Assertion failed: "), &first).into(),
        None if details.is_empty() => details.push(js_string!("Assertion failed").into()),
        None => details.insert(0, js_string!("Assertion failed:").into()),
    }
    write(Level::Error, &details, context)
}

fn table(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    match table::drawn(arguments, context)? {
        Some(table) => emit(Level::Log, &table),
        None => return write(Level::Log, arguments.get(..1).unwrap_or_default(), context),
    }
    Ok(JsValue::undefined())
}

fn group(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if !arguments.is_empty() {
        write(Level::Log, arguments, context)?;
    }
    STATE.with_borrow_mut(|state| state.groups = (state.groups + 1).min(MAX_GROUPS));
    Ok(JsValue::undefined())
}

fn group_end(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    STATE.with_borrow_mut(|state| state.groups = state.groups.saturating_sub(1));
    Ok(JsValue::undefined())
}

fn label(arguments: &[JsValue], context: &mut Context) -> JsResult<String> {
    match arguments.first().filter(|label| !label.is_undefined()) {
        Some(label) => Ok(label.to_string(context)?.to_std_string_lossy()),
        None => Ok("default".to_owned()),
    }
}

fn count(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(arguments, context)?;
    let count = STATE.with_borrow_mut(|state| {
        if state.counts.len() >= MAX_LABELS && !state.counts.contains_key(&label) {
            state.counts.clear();
        }
        let count = state.counts.entry(label.clone()).or_default();
        *count += 1;
        *count
    });
    emit(Level::Log, &format!("{label}: {count}"));
    Ok(JsValue::undefined())
}

fn count_reset(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(arguments, context)?;
    if STATE.with_borrow_mut(|state| state.counts.remove(&label)).is_none() {
        emit(Level::Warn, &format!("Count for '{label}' does not exist"));
    }
    Ok(JsValue::undefined())
}

fn time(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(arguments, context)?;
    let is_new = STATE.with_borrow_mut(|state| {
        if state.timers.len() >= MAX_LABELS {
            state.timers.clear();
        }
        let is_new = !state.timers.contains_key(&label);
        state.timers.entry(label.clone()).or_insert_with(Instant::now);
        is_new
    });
    if !is_new {
        emit(Level::Warn, &format!("Label '{label}' already exists for console.time()"));
    }
    Ok(JsValue::undefined())
}

fn time_log(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    time_so_far("console.timeLog()", false, arguments, context)
}

fn time_end(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    time_so_far("console.timeEnd()", true, arguments.get(..1).unwrap_or_default(), context)
}

fn time_so_far(function: &str, ends: bool, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(arguments, context)?;
    let start = STATE.with_borrow_mut(|state| match ends {
        true => state.timers.remove(&label),
        false => state.timers.get(&label).copied(),
    });
    let Some(start) = start else {
        emit(Level::Warn, &format!("No such label '{label}' for {function}"));
        return Ok(JsValue::undefined());
    };
    let mut line = format!("{label}: {}", duration(start.elapsed().as_secs_f64() * 1000.0));
    if let Some(data) = arguments.get(1..).filter(|data| !data.is_empty()) {
        line.push(' ');
        line.push_str(&inspect::format(data, context));
    }
    emit(Level::Log, &line);
    Ok(JsValue::undefined())
}

/// A duration as Node writes it: `1.234ms`, `1.234s`, `1:02.345 (m:ss.mmm)`.
fn duration(milliseconds: f64) -> String {
    let seconds = milliseconds / 1000.0;
    if seconds >= 3600.0 {
        let minutes = (seconds / 60.0).floor();
        let (hours, minutes) = ((minutes / 60.0).floor(), minutes % 60.0);
        format!("{hours}:{minutes:02}:{:02} (h:mm:ss)", (seconds % 60.0).floor())
    } else if seconds >= 60.0 {
        format!("{}:{:06.3} (m:ss.mmm)", (seconds / 60.0).floor(), seconds % 60.0)
    } else if seconds >= 1.0 {
        format!("{seconds:.3}s")
    } else {
        format!("{}ms", (milliseconds * 1000.0).round() / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::duration;
    use belljar_guest_testing::calls_log;

    #[test]
    fn the_methods_log_what_node_prints() {
        calls_log(include_str!("../../../../tests/tables/console_calls.json"));
    }

    #[test]
    fn durations_are_written_as_node_writes_them() {
        for (milliseconds, expected) in
            [(0.1234, "0.123ms"), (999.0, "999ms"), (1234.0, "1.234s"), (62_345.0, "1:02.345 (m:ss.mmm)")]
        {
            assert_eq!(duration(milliseconds), expected);
        }
    }
}
