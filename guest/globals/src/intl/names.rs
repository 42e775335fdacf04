//! `Intl.DisplayNames`: what languages, regions, scripts, currencies, calendars and the fields of a
//! date are called.

use boa_engine::{
    Context, JsData, JsNativeError, JsResult, JsString, JsValue,
    class::{Class, ClassBuilder},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::intl::{
    locale::is_known,
    names::{DisplayNames as Names, Kind, Style},
};

use super::{Options, data, locale, members, object, text};

const KINDS: [(&str, Kind); 6] = [
    ("language", Kind::Language),
    ("region", Kind::Region),
    ("script", Kind::Script),
    ("currency", Kind::Currency),
    ("calendar", Kind::Calendar),
    ("dateTimeField", Kind::DateTimeField),
];
const STYLES: [(&str, Style); 3] = [("narrow", Style::Narrow), ("short", Style::Short), ("long", Style::Long)];

#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct DisplayNames {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    names: Names,
}

impl Class for DisplayNames {
    const NAME: &'static str = "DisplayNames";
    const LENGTH: usize = 2;

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let locale = locale::of(arguments.first(), context)?;
        let options = arguments.get(1).filter(|options| options.is_object());
        let Some(options) = options else { return Err(without_type()) };
        let options = Options::of(Some(options), context)?;
        options.word("localeMatcher", &["lookup", "best fit"], context)?;
        let style = options.word("style", &STYLES.map(|(word, _)| word), context)?.unwrap_or("long");
        let kind = options.word("type", &KINDS.map(|(word, _)| word), context)?.ok_or_else(without_type)?;
        let fallback = options.word("fallback", &["code", "none"], context)?.unwrap_or("code");
        let languages = options.word("languageDisplay", &["dialect", "standard"], context)?.unwrap_or("dialect");
        let kind = KINDS.iter().find(|(word, _)| *word == kind).ok_or_else(without_type)?.1;
        let style = STYLES.iter().find(|(word, _)| *word == style).map_or(Style::Long, |(_, style)| *style);
        let (is_code_fallback, has_dialects) = (fallback == "code", languages == "dialect");
        Ok(Self { names: Names { locale, kind, style, is_code_fallback, has_dialects } })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        members(class, "Intl.DisplayNames", &[("of", 1, of), ("resolvedOptions", 0, resolved)], is_known);
        Ok(())
    }
}

fn without_type() -> boa_engine::JsError {
    let message = "Intl.DisplayNames needs the type of what is named, as in { type: 'region' }";
    JsNativeError::typ().with_message(message).into()
}

fn of(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let display = data::<DisplayNames>(this)?;
    let code = arguments.first().cloned().unwrap_or_default().to_string(context)?.to_std_string_lossy();
    let name = display.names.of(&code).map_err(|message| JsNativeError::range().with_message(message))?;
    Ok(name.map_or_else(JsValue::undefined, |name| JsString::from(name).into()))
}

fn resolved(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let display = data::<DisplayNames>(this)?;
    let names = &display.names;
    let kind = KINDS.iter().find(|(_, kind)| *kind == names.kind).map_or("", |(word, _)| word);
    let style = STYLES.iter().find(|(_, style)| *style == names.style).map_or("", |(word, _)| word);
    let display = match (names.kind, names.has_dialects) {
        (Kind::Language, true) => text("dialect"),
        (Kind::Language, false) => text("standard"),
        _ => JsValue::undefined(),
    };
    let members = [
        ("locale", text(&names.locale.tag)),
        ("style", text(style)),
        ("type", text(kind)),
        ("fallback", text(if names.is_code_fallback { "code" } else { "none" })),
        ("languageDisplay", display),
    ];
    Ok(object(&members, context)?.into())
}
