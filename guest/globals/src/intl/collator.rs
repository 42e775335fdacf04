//! `Intl.Collator` and `localeCompare`.

use boa_engine::{
    Context, JsData, JsObject, JsResult, JsValue,
    class::{Class, ClassBuilder},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::intl::{
    collation::Rules,
    locale::{Locale, has_common_order},
};

use super::{Options, bind, bound, data, locale, made, members, object, text};

#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct Collator {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    locale: Locale,
    #[unsafe_ignore_trace]
    rules: Rules,
}

impl Class for Collator {
    const NAME: &'static str = "Collator";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let (locale, rules) = settled(arguments.first(), arguments.get(1), context)?;
        Ok(Self { locale, rules })
    }

    fn construct(new_target: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsObject> {
        made::<Self>(new_target, arguments, context)
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        members(class, "Intl.Collator", &[("resolvedOptions", 0, resolved_options)], has_common_order);
        bound(class, "compare", |this, _, context| {
            data::<Self>(this)?;
            Ok(bind(this, 2, compare, context))
        });
        Ok(())
    }
}

fn settled(locales: Option<&JsValue>, options: Option<&JsValue>, context: &mut Context) -> JsResult<(Locale, Rules)> {
    let locale = locale::ordered(locales, context)?;
    let options = Options::of(options, context)?;
    if options.0.is_none() && !locale.tag.contains("-kn") {
        return Ok((locale, Rules::default()));
    }
    options.word("usage", &["sort", "search"], context)?;
    // `en-u-kn-true` is another way to ask.
    let is_numeric = options
        .flag("numeric", context)?
        .unwrap_or_else(|| locale.tag.contains("-kn") && !locale.tag.contains("-kn-false"));
    let case_first = options.word("caseFirst", &["upper", "lower", "false"], context)?.unwrap_or("false");
    let levels = ["base", "accent", "case", "variant"];
    let sensitivity = options.word("sensitivity", &levels, context)?.unwrap_or("variant");
    let ignores_punctuation = options.flag("ignorePunctuation", context)?.unwrap_or(false);
    Ok((locale, Rules { sensitivity, case_first, is_numeric, ignores_punctuation }))
}

fn compare(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let rules = data::<Collator>(this)?.rules.clone();
    let mut side = |index: usize| arguments.get(index).cloned().unwrap_or_default().to_string(context);
    let (left, right) = (side(0)?.to_std_string_lossy(), side(1)?.to_std_string_lossy());
    Ok(JsValue::from(rules.compare(&left, &right) as i32))
}

/// `String.prototype.localeCompare`
pub(super) fn locale_compare(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = this.require_object_coercible()?.to_string(context)?;
    let other = arguments.first().cloned().unwrap_or_default().to_string(context)?;
    let (_, rules) = settled(arguments.get(1), arguments.get(2), context)?;
    Ok(JsValue::from(rules.compare(&this.to_std_string_lossy(), &other.to_std_string_lossy()) as i32))
}

fn resolved_options(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Collator { locale, rules } = &data::<Collator>(this)?;
    let members = [
        ("locale", text(&locale.tag)),
        ("usage", text("sort")),
        ("sensitivity", text(rules.sensitivity)),
        ("ignorePunctuation", rules.ignores_punctuation.into()),
        ("collation", text("default")),
        ("numeric", rules.is_numeric.into()),
        ("caseFirst", text(rules.case_first)),
    ];
    Ok(object(&members, context)?.into())
}
