//! Locales: which one is asked for, and whether there is what is needed for it.

use boa_engine::{
    Context, JsData, JsNativeError, JsResult, JsValue,
    class::{Class, ClassBuilder},
};
use boa_gc::{Finalize, Trace};

use super::{Native, data, locales, members, table::LOCALES, text, writing::Data};
use crate::web::items;

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
    /// Whose customs lists and units follow, which are in English alone.
    pub(super) region: Region,
    /// In the table of all locales.
    pub(super) place: usize,
}

impl Locale {
    /// The first of the requested locales that there is data for; `en-US`, if none is requested.
    pub(super) fn of(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Self> {
        Self::first(locales, is_known, &|| format!("there are {}", locales::listed()), context)
    }

    /// The same of what is there in English alone.
    pub(super) fn english(what: &str, locales: Option<&JsValue>, context: &mut Context) -> JsResult<Self> {
        Self::first(locales, is_english, &|| format!("{what} is there in English alone"), context)
    }

    /// The same of what orders texts.
    pub(super) fn ordered(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Self> {
        let known = "the order of texts is there for English, German, French, Italian, Dutch and Portuguese";
        Self::first(locales, has_common_order, &|| known.to_owned(), context)
    }

    /// Whatever is requested, for what is alike in all languages.
    pub(super) fn any(locales: Option<&JsValue>, context: &mut Context) -> JsResult<Self> {
        Self::first(locales, |_| true, &String::new, context)
    }

    /// What nobody has data for is refused: in another language it would be wrong, and nobody would
    /// see it.
    fn first(
        locales: Option<&JsValue>,
        is_there: fn(&str) -> bool,
        what_there_is: &dyn Fn() -> String,
        context: &mut Context,
    ) -> JsResult<Self> {
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
        let region = match tag.split('-').find(|part| part.len() == 2 && part.chars().all(|c| c.is_ascii_uppercase())) {
            None | Some("US" | "PR" | "PH" | "VI" | "GU") => Region::UnitedStates,
            Some("CA") => Region::Canada,
            Some(_) => Region::Britain,
        };
        let place = locales::find(&tag).unwrap_or(0);
        Ok(Self { tag, region, place })
    }

    pub(super) fn data(&self) -> &'static Data {
        // `place` is that of an element, or 0.
        LOCALES.get(self.place).unwrap_or(&LOCALES[0])
    }

    pub(super) fn is_english(&self) -> bool {
        is_english(&self.tag)
    }
}

pub(super) fn is_known(tag: &str) -> bool {
    locales::find(tag).is_some()
}

/// Whether texts are ordered as the table of all languages has it.
pub(super) fn has_common_order(tag: &str) -> bool {
    let language = tag.split('-').next().unwrap_or_default();
    matches!(language, "en" | "de" | "fr" | "it" | "nl" | "pt") && !tag.starts_with("fr-CA")
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
