//! `Intl`: what scripts format for people to read, without the megabytes of all the world's
//! locales.
//!
//! Dates, numbers and names of countries and languages are there in some twenty locales, lists,
//! plurals, units and the like in English. What is asked for in another is refused with a
//! `RangeError`: answered in English it would be wrong, and nobody would see it.

mod collator;
mod date;
mod lists;
mod locale;
mod names;
mod number;
mod segmenter;
mod settings;
mod zone;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction,
    class::{Class, ClassBuilder},
    js_string,
    object::{FunctionObjectBuilder, builtins::JsArray},
    property::{Attribute, PropertyDescriptor},
};

use belljar_guest_algorithms::intl::Part;
use belljar_guest_engine::objects::{self, Native, put, put_hidden};

/// Makes `Intl`, and the methods of the language that it serves. Part of the snapshot.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    zone::install(context)?;
    let intl = JsObject::with_object_proto(context.intrinsics());
    let tag = PropertyDescriptor::builder().value(js_string!("Intl")).writable(false).enumerable(false);
    intl.define_property_or_throw(JsSymbol::to_string_tag(), tag.configurable(true).build(), context)?;
    class::<number::NumberFormat>(&intl, context)?;
    class::<date::DateTimeFormat>(&intl, context)?;
    class::<lists::PluralRules>(&intl, context)?;
    class::<lists::ListFormat>(&intl, context)?;
    class::<lists::RelativeTimeFormat>(&intl, context)?;
    class::<collator::Collator>(&intl, context)?;
    class::<segmenter::Segmenter>(&intl, context)?;
    class::<locale::LocaleObject>(&intl, context)?;
    class::<names::DisplayNames>(&intl, context)?;
    let canonical =
        objects::function("getCanonicalLocales", 1, NativeFunction::from_fn_ptr(canonical_locales), context);
    put_hidden(&intl, "getCanonicalLocales", canonical, context)?;
    objects::define("Intl", intl, context)?;

    let constructors = context.intrinsics().constructors();
    let (number, date, string) = (constructors.number(), constructors.date(), constructors.string());
    let (number, date, string) = (number.prototype(), date.prototype(), string.prototype());
    let big_integer = constructors.bigint().prototype();
    let methods: [(JsObject, &str, usize, Native); 6] = [
        (number, "toLocaleString", 0, number::number_to_locale_string),
        (big_integer, "toLocaleString", 0, number::number_to_locale_string),
        (date.clone(), "toLocaleString", 0, date::to_locale_string),
        (date.clone(), "toLocaleDateString", 0, date::to_locale_date_string),
        (date, "toLocaleTimeString", 0, date::to_locale_time_string),
        (string, "localeCompare", 1, collator::locale_compare),
    ];
    for (object, name, length, native) in methods {
        let method = objects::function(name, length, NativeFunction::from_fn_ptr(native), context);
        put_hidden(&object, name, method, context)?;
    }
    Ok(())
}

/// Registers a class, and makes it a member of `Intl` in the place of a global.
fn class<T: Class>(intl: &JsObject, context: &mut Context) -> JsResult<()> {
    context.register_global_class::<T>()?;
    let global = context.global_object();
    let constructor = global.get(js_string!(T::NAME), context)?;
    global.delete_property_or_throw(js_string!(T::NAME), context)?;
    put_hidden(intl, T::NAME, constructor, context)
}

/// Gives a class its methods, its tag, and `supportedLocalesOf`.
fn members(class: &mut ClassBuilder<'_>, tag: &str, methods: &[(&str, usize, Native)], is_there: fn(&str) -> bool) {
    for (name, length, native) in methods {
        class.method(JsString::from(*name), *length, NativeFunction::from_fn_ptr(*native));
    }
    class.property(JsSymbol::to_string_tag(), JsString::from(tag), Attribute::CONFIGURABLE);
    let supported = move |_: &JsValue, arguments: &[JsValue], context: &mut Context| {
        let tags = locale::requested(arguments.first(), context)?;
        let there = tags.into_iter().filter(|tag| is_there(tag)).map(|tag| JsString::from(tag).into());
        Ok(JsArray::from_iter(there, context).into())
    };
    class.static_method(js_string!("supportedLocalesOf"), 1, NativeFunction::from_copy_closure(supported));
}

/// An accessor that gives `function` as a function of its own, which may be called without its
/// object.
fn bound(class: &mut ClassBuilder<'_>, name: &'static str, get: Native) {
    let context = class.context();
    let get = objects::function(&format!("get {name}"), 0, NativeFunction::from_fn_ptr(get), context);
    class.accessor(js_string!(name), Some(get), None, Attribute::CONFIGURABLE);
}

/// A function that calls `native` with `this`, whatever it is called on.
fn bind(this: &JsValue, length: usize, native: Native, context: &mut Context) -> JsValue {
    let function = NativeFunction::from_copy_closure_with_captures(
        move |_, arguments, this: &JsValue, context| native(this, arguments, context),
        this.clone(),
    );
    FunctionObjectBuilder::new(context.realm(), function).length(length).build().into()
}

fn canonical_locales(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let tags = locale::requested(arguments.first(), context)?;
    Ok(JsArray::from_iter(tags.into_iter().map(|tag| JsString::from(tag).into()), context).into())
}

/// The options argument.
struct Options(Option<JsObject>);

impl Options {
    fn of(value: Option<&JsValue>, context: &mut Context) -> JsResult<Self> {
        match value {
            None => Ok(Self(None)),
            Some(value) if value.is_undefined() => Ok(Self(None)),
            Some(value) => value.to_object(context).map(|object| Self(Some(object))),
        }
    }

    fn get(&self, name: &str, context: &mut Context) -> JsResult<JsValue> {
        match &self.0 {
            Some(options) => options.get(JsString::from(name), context),
            None => Ok(JsValue::undefined()),
        }
    }

    fn text(&self, name: &str, context: &mut Context) -> JsResult<Option<String>> {
        let value = self.get(name, context)?;
        if value.is_undefined() {
            return Ok(None);
        }
        value.to_string(context).map(|text| Some(text.to_std_string_lossy()))
    }

    fn flag(&self, name: &str, context: &mut Context) -> JsResult<Option<bool>> {
        let value = self.get(name, context)?;
        Ok((!value.is_undefined()).then(|| value.to_boolean()))
    }

    /// One of a list of words, if it is given.
    fn word(&self, name: &str, words: &[&'static str], context: &mut Context) -> JsResult<Option<&'static str>> {
        let Some(given) = self.text(name, context)? else { return Ok(None) };
        match words.iter().find(|word| **word == given) {
            Some(word) => Ok(Some(*word)),
            None => {
                let given: String = given.chars().take(40).collect();
                let message = format!("{name} is '{given}', and may be {}", words.join(", "));
                Err(JsNativeError::range().with_message(message).into())
            }
        }
    }

    /// A whole number within these bounds, if it is given.
    fn whole(&self, name: &str, least: u32, most: u32, context: &mut Context) -> JsResult<Option<usize>> {
        let value = self.get(name, context)?;
        if value.is_undefined() {
            return Ok(None);
        }
        let number = value.to_number(context)?;
        if number.is_nan() || number < f64::from(least) || number > f64::from(most) {
            let message = format!("{name} is out of range: it may be {least} to {most}");
            return Err(JsNativeError::range().with_message(message).into());
        }
        Ok(Some(number.floor() as usize))
    }
}

fn joined(parts: &[Part]) -> JsValue {
    let text: String = parts.iter().map(|(_, text)| text.as_str()).collect();
    JsString::from(text).into()
}

/// `[{ type, value }, …]`
fn listed(parts: &[Part], context: &mut Context) -> JsResult<JsValue> {
    let mut objects = Vec::new();
    for (kind, text) in parts {
        objects.push(JsValue::from(object(
            &[("type", js_string!(*kind).into()), ("value", JsString::from(text.as_str()).into())],
            context,
        )?));
    }
    Ok(JsArray::from_iter(objects, context).into())
}

fn object(members: &[(&str, JsValue)], context: &mut Context) -> JsResult<JsObject> {
    let object = JsObject::with_object_proto(context.intrinsics());
    for (name, value) in members.iter().filter(|(_, value)| !value.is_undefined()) {
        put(&object, name, value.clone(), context)?;
    }
    Ok(object)
}

fn text(text: &str) -> JsValue {
    JsString::from(text).into()
}

/// The data of an object of a class.
fn data<T: Class + Clone>(this: &JsValue) -> JsResult<T> {
    this.as_object()
        .and_then(|object| object.downcast_ref::<T>().map(|data| data.clone()))
        .ok_or_else(|| JsNativeError::typ().with_message(format!("this is no Intl.{}", T::NAME)).into())
}

/// Makes an object of a class also where it is called without `new`, as old code does.
fn made<T: Class>(new_target: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsObject> {
    let data = T::data_constructor(new_target, arguments, context)?;
    let object = T::from_data(data, context)?;
    if let Some(target) = new_target.as_object()
        && let Some(prototype) = target.get(js_string!("prototype"), context)?.as_object()
    {
        object.set_prototype(Some(prototype));
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::holds;

    #[test]
    fn texts_for_people_are_written_as_in_node() {
        holds(include_str!("../../../../tests/tables/intl.json"));
    }
}
