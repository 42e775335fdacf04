//! `Intl.Segmenter`: where characters, words and sentences end.

use boa_engine::{
    Context, JsData, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction,
    class::{Class, ClassBuilder},
    js_string,
    object::FunctionObjectBuilder,
    property::PropertyDescriptor,
};
use boa_gc::{Finalize, Trace};
use unicode_segmentation::UnicodeSegmentation as _;

use belljar_guest_algorithms::intl::locale::Locale;
use belljar_guest_engine::objects::{self, put_hidden};

use super::{Options, data, locale, members, object, text};
use crate::web::iterator;

#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct Segmenter {
    // Neither holds an object that could be collected.
    #[unsafe_ignore_trace]
    locale: Locale,
    #[unsafe_ignore_trace]
    granularity: &'static str,
}

impl Class for Segmenter {
    const NAME: &'static str = "Segmenter";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let locale = locale::any(arguments.first(), context)?;
        let options = Options::of(arguments.get(1), context)?;
        let granularities = ["grapheme", "word", "sentence"];
        let granularity = options.word("granularity", &granularities, context)?.unwrap_or("grapheme");
        Ok(Self { locale, granularity })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        let methods: [(&str, usize, super::Native); 2] = [
            ("segment", 1, segment),
            ("resolvedOptions", 0, |this, _, context| {
                let segmenter = data::<Self>(this)?;
                let members = [("locale", text(&segmenter.locale.tag)), ("granularity", text(segmenter.granularity))];
                Ok(object(&members, context)?.into())
            }),
        ];
        members(class, "Intl.Segmenter", &methods, |_| true);
        Ok(())
    }
}

/// A text and its segments: where each ends, in UTF-16 units, and whether it is a word.
#[derive(Debug, Trace, Finalize, JsData)]
struct Segments {
    // Neither holds an object that could be collected.
    #[unsafe_ignore_trace]
    input: JsString,
    #[unsafe_ignore_trace]
    ends: Vec<(usize, Option<bool>)>,
}

impl Segments {
    fn describe(&self, index: usize, context: &mut Context) -> JsResult<JsValue> {
        let Some((end, is_word)) = self.ends.get(index) else { return Ok(JsValue::undefined()) };
        let start = index.checked_sub(1).and_then(|index| self.ends.get(index)).map_or(0, |(end, _)| *end);
        let members = [
            ("segment", self.input.slice(start, *end).into()),
            ("index", JsValue::from(start)),
            ("input", self.input.clone().into()),
            ("isWordLike", is_word.map_or_else(JsValue::undefined, JsValue::from)),
        ];
        Ok(object(&members, context)?.into())
    }
}

fn segment(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let segmenter = data::<Segmenter>(this)?;
    let input = arguments.first().cloned().unwrap_or_default().to_string(context)?;
    let lossy = input.to_std_string_lossy();
    let is_word = |piece: &str| Some(piece.chars().any(char::is_alphanumeric));
    let mut place = 0;
    let mut end = |piece: &str, is_word: Option<bool>| {
        place += piece.encode_utf16().count();
        (place, is_word)
    };
    let ends = match segmenter.granularity {
        "word" => lossy.split_word_bounds().map(|piece| end(piece, is_word(piece))).collect(),
        "sentence" => lossy.split_sentence_bounds().map(|piece| end(piece, None)).collect(),
        _ => lossy.graphemes(true).map(|piece| end(piece, None)).collect(),
    };
    let prototype = context.intrinsics().constructors().object().prototype();
    let segments = JsObject::from_proto_and_data(prototype, Segments { input, ends });
    let containing = objects::function("containing", 1, NativeFunction::from_fn_ptr(containing), context);
    put_hidden(&segments, "containing", containing, context)?;
    let iterate = NativeFunction::from_fn_ptr(iterate);
    let iterate = FunctionObjectBuilder::new(context.realm(), iterate).name(js_string!("[Symbol.iterator]")).build();
    let iterate = PropertyDescriptor::builder().value(iterate).writable(true).enumerable(false).configurable(true);
    segments.define_property_or_throw(JsSymbol::iterator(), iterate.build(), context)?;
    Ok(segments.into())
}

fn segments<R>(this: &JsValue, look: impl FnOnce(&Segments) -> R) -> Option<R> {
    this.as_object().and_then(|object| object.downcast_ref::<Segments>().map(|segments| look(&segments)))
}

fn containing(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let index = arguments.first().cloned().unwrap_or_default().to_integer_or_infinity(context)?;
    let index = match index {
        boa_engine::value::IntegerOrInfinity::Integer(index) => usize::try_from(index).ok(),
        _ => None,
    };
    let found = index.and_then(|index| {
        segments(this, |segments| {
            let place = segments.ends.partition_point(|(end, _)| *end <= index);
            (place < segments.ends.len()).then_some(place)
        })
    });
    match found.flatten() {
        Some(place) => describe(this, place, context),
        None => Ok(JsValue::undefined()),
    }
}

fn describe(this: &JsValue, place: usize, context: &mut Context) -> JsResult<JsValue> {
    let segments = this.as_object().and_then(|object| object.downcast::<Segments>().ok());
    match segments {
        Some(segments) => segments.borrow().data().describe(place, context),
        None => Ok(JsValue::undefined()),
    }
}

fn iterate(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let count = segments(this, |segments| segments.ends.len()).unwrap_or(0);
    let mut described = Vec::new();
    for place in 0..count {
        described.push(describe(this, place, context)?);
    }
    iterator(described, context)
}
