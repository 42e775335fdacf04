//! `console`: each call becomes one entry of the run's logs.

use boa_engine::{Context, JsObject, JsResult, JsValue, NativeFunction};

use crate::{glass::belljar::sandbox::console as glass, values::inspect};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let console = JsObject::with_object_proto(context.intrinsics());
    let methods: [(&str, super::Native); 8] = [
        ("debug", |_, arguments, context| write(glass::Level::Debug, arguments, context)),
        ("trace", |_, arguments, context| write(glass::Level::Debug, arguments, context)),
        ("log", |_, arguments, context| write(glass::Level::Log, arguments, context)),
        ("dir", |_, arguments, context| write(glass::Level::Log, arguments.get(..1).unwrap_or_default(), context)),
        ("info", |_, arguments, context| write(glass::Level::Info, arguments, context)),
        ("warn", |_, arguments, context| write(glass::Level::Warn, arguments, context)),
        ("error", |_, arguments, context| write(glass::Level::Error, arguments, context)),
        ("assert", assert),
    ];
    for (name, method) in methods {
        let method = super::function(name, 0, NativeFunction::from_fn_ptr(method), context);
        super::put(&console, name, method, context)?;
    }
    super::define("console", console, context)
}

fn write(level: glass::Level, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    glass::write(level, &inspect::format(arguments, context));
    Ok(JsValue::undefined())
}

fn assert(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if !arguments.first().is_some_and(JsValue::to_boolean) {
        let details = inspect::format(arguments.get(1..).unwrap_or_default(), context);
        let separator = if details.is_empty() { "" } else { ": " };
        glass::write(glass::Level::Error, &format!("Assertion failed{separator}{details}"));
    }
    Ok(JsValue::undefined())
}
