//! `performance.now`, on the host's clock.

use std::{
    cell::Cell,
    time::{Instant, SystemTime},
};

use boa_engine::{Context, JsResult, JsValue, NativeFunction, js_string, property::PropertyDescriptor};

use belljar_guest_engine::objects;

use super::singleton;

thread_local! {
    /// When this run began. Never set while the snapshot is taken.
    static START: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// A run begins: times are counted from here.
pub fn start_of_run() {
    START.set(Some(Instant::now()));
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let performance = singleton("Performance", &[("now", 0, now)], context)?;
    let getter = objects::function("get timeOrigin", 0, NativeFunction::from_fn_ptr(time_origin), context);
    let descriptor = PropertyDescriptor::builder().get(getter).enumerable(true).configurable(true);
    performance.define_property_or_throw(js_string!("timeOrigin"), descriptor.build(), context)?;
    objects::define("performance", performance, context)
}

/// Milliseconds since the run began.
fn elapsed() -> f64 {
    START.get().map_or(0.0, |start| start.elapsed().as_secs_f64() * 1000.0)
}

fn now(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::from(elapsed()))
}

/// The wall time at which the run began, in milliseconds since 1970.
fn time_origin(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(JsValue::from(now.as_secs_f64() * 1000.0 - elapsed()))
}
