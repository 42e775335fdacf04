//! Locales: which one is asked for, and whether there is what is needed for it.

use boa_engine::{
    Context, JsData, JsNativeError, JsResult, JsValue,
    class::{Class, ClassBuilder},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::intl::{
    locale::{Locale, canonical, has_common_order, is_english, is_known},
    locales,
};

use super::{Native, data, members, text};
use crate::web::items;

/// The first of the requested locales that there is data for; `en-US`, if none is requested.
pub(super) fn of(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Locale> {
    first(locales, is_known, &|| format!("there are {}", locales::listed()), context)
}

/// The same of what is there in English alone.
pub(super) fn english(what: &str, locales: Option<&JsValue>, context: &mut Context) -> JsResult<Locale> {
    first(locales, is_english, &|| format!("{what} is there in English alone"), context)
}

/// The same of what orders texts.
pub(super) fn ordered(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Locale> {
    let known = "the order of texts is there for English, German, French, Italian, Dutch and Portuguese";
    first(locales, has_common_order, &|| known.to_owned(), context)
}

/// Whatever is requested, for what is alike in all languages.
pub(super) fn any(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Locale> {
    first(locales, |_| true, &String::new, context)
}

/// What nobody has data for is refused: in another language it would be wrong, and nobody would
/// see it.
fn first(
    locales: Option<&JsValue>,
    is_there: fn(&str) -> bool,
    what_there_is: &dyn Fn() -> String,
    context: &mut Context,
) -> JsResult<Locale> {
    let tags = requested(locales, context)?;
    let tag = match (tags.iter().find(|tag| is_there(tag)), tags.first()) {
        (Some(tag), _) => tag.clone(),
        (None, None) => "en-US".to_owned(),
        (None, Some(tag)) => {
            let tag: String = tag.chars().take(40).collect();
            let message = format!(
                "there is no data for the locale '{tag}' here: {}. Add one of these after it, as in ['{tag}', 'en-US']",
                what_there_is()
            );
            return Err(JsNativeError::range().with_message(message).into());
        }
    };
    Ok(Locale::of_tag(tag))
}

/// The locales of a `locales` argument, in their usual case.
pub(super) fn requested(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Vec<String>> {
    let wrong = || JsNativeError::typ().with_message("a locale is a text such as 'en-US', or a list of such");
    let list = match locales {
        None => return Ok(Vec::new()),
        Some(value) if value.is_undefined() => return Ok(Vec::new()),
        Some(value) if value.is_null() => return Err(wrong().into()),
        Some(value) if value.is_string() => vec![value.clone()],
        Some(value) => match value.as_object() {
            Some(object) if object.is::<LocaleObject>() => vec![value.clone()],
            Some(_) => items(value, context)?,
            None => Vec::new(),
        },
    };
    let mut tags = Vec::new();
    for value in list {
        if !value.is_string() && !value.is_object() {
            return Err(wrong().into());
        }
        let tag = canonical(&value.to_string(context)?.to_std_string_lossy())
            .map_err(|message| JsNativeError::range().with_message(message))?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

/// `Intl.Locale`, of any language: only its tag is taken apart.
#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct LocaleObject {
    tag: String,
}

impl Class for LocaleObject {
    const NAME: &'static str = "Locale";
    const LENGTH: usize = 1;

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        match requested(arguments.first(), context)?.into_iter().next() {
            Some(tag) => Ok(Self { tag }),
            None => Err(JsNativeError::typ().with_message("Intl.Locale takes a locale, as in 'en-US'").into()),
        }
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        members(class, "Intl.Locale", &[("toString", 0, tag)], |_| true);
        let parts: [(&str, Native); 4] = [
            ("baseName", tag),
            ("language", |this, _, _| part(this, |index, _| index == 0)),
            ("script", |this, _, _| part(this, |index, part| index == 1 && part.len() == 4)),
            ("region", |this, _, _| part(this, |index, part| (1..3).contains(&index) && part.len() == 2)),
        ];
        for (name, get) in parts {
            crate::web::accessor(class, name, get, None);
        }
        Ok(())
    }
}

fn tag(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(text(&data::<LocaleObject>(this)?.tag))
}

fn part(this: &JsValue, is_it: fn(usize, &str) -> bool) -> JsResult<JsValue> {
    let locale = data::<LocaleObject>(this)?;
    let part = locale.tag.split('-').enumerate().find(|(index, part)| is_it(*index, part));
    Ok(part.map_or_else(JsValue::undefined, |(_, part)| text(part)))
}
