//! Locales: which one is asked for, and what region's English it is.

use boa_engine::{
    Context, JsData, JsNativeError, JsResult, JsValue,
    class::{Class, ClassBuilder},
};
use boa_gc::{Finalize, Trace};

use super::{Native, data, members, text};
use crate::globals::web::items;

/// The region whose customs are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    UnitedStates,
    Canada,
    /// Britain, and most of the English-speaking world with it.
    Britain,
}

/// The locale that a formatter works in.
#[derive(Debug, Clone)]
pub(super) struct Locale {
    pub(super) tag: String,
    pub(super) region: Region,
}

impl Locale {
    /// The first of the requested locales that is English, else `en-US`.
    pub(super) fn of(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Self> {
        let tag = requested(locales, context)?.into_iter().find(|tag| is_english(tag));
        let tag = tag.unwrap_or_else(|| "en-US".to_owned());
        let region = match tag.split('-').find(|part| part.len() == 2 && part.chars().all(|c| c.is_ascii_uppercase())) {
            None | Some("US" | "PR" | "PH" | "VI" | "GU") => Region::UnitedStates,
            Some("CA") => Region::Canada,
            Some(_) => Region::Britain,
        };
        Ok(Self { tag, region })
    }
}

pub(super) fn is_english(tag: &str) -> bool {
    tag == "en" || tag.starts_with("en-")
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
        let tag = canonical(&value.to_string(context)?.to_std_string_lossy())?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

fn canonical(tag: &str) -> JsResult<String> {
    let is_valid = |(index, part): (usize, &str)| {
        let is_word = (1..=8).contains(&part.len()) && part.chars().all(|character| character.is_ascii_alphanumeric());
        is_word && (index > 0 || ((2..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphabetic())))
    };
    if tag.len() > 100 || !tag.split('-').enumerate().all(is_valid) {
        let tag: String = tag.chars().take(40).collect();
        let message = format!("'{tag}' is no locale: it is written as in 'en-US'");
        return Err(JsNativeError::range().with_message(message).into());
    }
    let mut is_extension = false;
    let parts = tag.split('-').enumerate().map(|(index, part)| {
        let lower = part.to_ascii_lowercase();
        is_extension |= index > 0 && part.len() == 1;
        match part.len() {
            2 if index > 0 && !is_extension => part.to_ascii_uppercase(),
            4 if index > 0 && !is_extension => {
                let (first, rest) = lower.split_at(1);
                format!("{}{rest}", first.to_ascii_uppercase())
            }
            _ => lower,
        }
    });
    Ok(parts.collect::<Vec<_>>().join("-"))
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
        members(class, "Intl.Locale", &[("toString", 0, tag)]);
        let parts: [(&str, Native); 4] = [
            ("baseName", tag),
            ("language", |this, _, _| part(this, |index, _| index == 0)),
            ("script", |this, _, _| part(this, |index, part| index == 1 && part.len() == 4)),
            ("region", |this, _, _| part(this, |index, part| (1..3).contains(&index) && part.len() == 2)),
        ];
        for (name, get) in parts {
            crate::globals::web::accessor(class, name, get, None);
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
