//! `URL`, as the `url` crate reads it.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue, NativeFunction,
    class::{Class, ClassBuilder},
    js_string,
};
use boa_gc::{Finalize, Trace};
use url::{Url, quirks};

use super::{Native, accessor, methods, required, search_params, string, text, with};

/// A URL, and the list of its parameters once it was asked for.
#[derive(Debug, Trace, Finalize, JsData)]
pub(crate) struct UrlObject {
    #[unsafe_ignore_trace]
    pub(super) url: Url,
    params: Option<JsObject>,
}

impl UrlObject {
    /// The parts of a URL, to be shown.
    pub(crate) fn members(object: &JsObject, context: &mut Context) -> Vec<(&'static str, JsValue)> {
        let this = JsValue::from(object.clone());
        let part =
            |get: fn(&Url) -> &str| with(&this, "URL", |data: &mut Self| text(get(&data.url))).unwrap_or_default();
        vec![
            ("href", part(quirks::href)),
            ("origin", with(&this, "URL", |data: &mut Self| text(&quirks::origin(&data.url))).unwrap_or_default()),
            ("protocol", part(quirks::protocol)),
            ("username", part(quirks::username)),
            ("password", part(|url| quirks::password(url))),
            ("host", part(quirks::host)),
            ("hostname", part(quirks::hostname)),
            ("port", part(quirks::port)),
            ("pathname", part(quirks::pathname)),
            ("search", part(quirks::search)),
            ("searchParams", params(&this, &[], context).unwrap_or_default()),
            ("hash", part(quirks::hash)),
        ]
    }
}

type Setter = fn(&mut Url, &str);

/// The accessors that read and write a part of the text.
macro_rules! parts {
    ($class:ident: $($name:literal $get:path, $set:expr;)*) => {
        $({
            let get: Native = |this, _, _| with(this, "URL", |data: &mut UrlObject| text($get(&data.url).as_ref()));
            let set: Native = |this, arguments, context| {
                let value = string(required(arguments, 0, concat!("URL.", $name))?, context)?;
                let set: Setter = $set;
                with(this, "URL", |data: &mut UrlObject| set(&mut data.url, &value))?;
                Ok(JsValue::undefined())
            };
            accessor($class, $name, get, Some(set));
        })*
    };
}

impl Class for UrlObject {
    const NAME: &'static str = "URL";
    const LENGTH: usize = 1;

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        required(arguments, 0, "URL")?;
        match parsed(arguments, context)? {
            Ok(url) => Ok(Self { url, params: None }),
            Err(fault) => Err(JsNativeError::typ().with_message(fault).into()),
        }
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(class, Self::NAME, &[("toString", 0, href), ("toJSON", 0, href)]);
        accessor(class, "href", href, Some(set_href));
        accessor(
            class,
            "origin",
            |this, _, _| with(this, "URL", |data: &mut Self| text(&quirks::origin(&data.url))),
            None,
        );
        accessor(class, "searchParams", params, None);
        // What cannot be set so is left as it was, as the specification has it.
        parts! { class:
            "protocol" quirks::protocol, |url, value| { let _ = quirks::set_protocol(url, value); };
            "username" quirks::username, |url, value| { let _ = quirks::set_username(url, value); };
            "password" quirks::password, |url, value| { let _ = quirks::set_password(url, value); };
            "host" quirks::host, |url, value| { let _ = quirks::set_host(url, value); };
            "hostname" quirks::hostname, |url, value| { let _ = quirks::set_hostname(url, value); };
            "port" quirks::port, |url, value| { let _ = quirks::set_port(url, value); };
            "pathname" quirks::pathname, quirks::set_pathname;
            "search" quirks::search, quirks::set_search;
            "hash" quirks::hash, quirks::set_hash;
        }
        class.static_method(js_string!("canParse"), 1, NativeFunction::from_fn_ptr(can_parse));
        class.static_method(js_string!("parse"), 1, NativeFunction::from_fn_ptr(parse));
        Ok(())
    }
}

/// The URL of these arguments, or what is wrong with them.
fn parsed(arguments: &[JsValue], context: &mut Context) -> JsResult<Result<Url, String>> {
    let url = string(&arguments[0], context)?;
    let base = match arguments.get(1).filter(|base| !base.is_undefined()) {
        Some(base) => Some(string(base, context)?),
        None => None,
    };
    let quoted = |text: &str| text.chars().take(100).collect::<String>();
    let base = match base.as_deref().map(Url::parse) {
        None => None,
        Some(Ok(base)) => Some(base),
        Some(Err(_)) => {
            return Ok(Err(format!("Invalid URL: the base '{}' is not a URL", quoted(&base.unwrap_or_default()))));
        }
    };
    let parsed = Url::options().base_url(base.as_ref()).parse(&url);
    Ok(parsed.map_err(|fault| match fault {
        url::ParseError::RelativeUrlWithoutBase => format!(
            "Invalid URL: '{}' is relative: give a base, as in new URL('/path', 'https://example.com')",
            quoted(&url)
        ),
        fault => format!("Invalid URL: '{}': {fault}", quoted(&url)),
    }))
}

fn href(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    with(this, "URL", |data: &mut UrlObject| text(data.url.as_str()))
}

fn set_href(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    required(arguments, 0, "URL.href")?;
    let url = parsed(&arguments[..1], context)?.map_err(|fault| JsNativeError::typ().with_message(fault))?;
    with(this, "URL", |data: &mut UrlObject| data.url = url)?;
    Ok(JsValue::undefined())
}

fn params(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let Some(params) = with(this, "URL", |data: &mut UrlObject| data.params.clone())? {
        return Ok(params.into());
    }
    let Some(object) = this.as_object() else { return Ok(JsValue::undefined()) };
    let params = search_params::of_url(&object, context)?;
    with(this, "URL", |data: &mut UrlObject| data.params = Some(params.clone()))?;
    Ok(params.into())
}

fn can_parse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    required(arguments, 0, "URL.canParse")?;
    Ok(JsValue::from(parsed(arguments, context)?.is_ok()))
}

fn parse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    required(arguments, 0, "URL.parse")?;
    match parsed(arguments, context)? {
        Ok(url) => Ok(UrlObject::from_data(UrlObject { url, params: None }, context)?.into()),
        Err(_) => Ok(JsValue::null()),
    }
}
