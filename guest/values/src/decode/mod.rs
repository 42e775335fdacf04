//! JSON text to JavaScript values, built directly.
//!
//! Linear in the text's length, at any depth: nothing here calls itself.

mod extended;
mod fault;
mod member;
mod reader;
mod records;
mod strings;

use boa_engine::{
    Context, JsError, JsObject, JsString, JsValue, builtins::object::OrdinaryObject, object::builtins::JsArray,
    property::PropertyKey, string::JsStrVariant,
};

use belljar_guest_engine::plain;

use super::place::Place;
use fault::{Fault, FaultKind};
use reader::{Encoding, Number, Reader};
use strings::Strings;

pub use extended::extended;
pub use fault::Described;
pub use member::members;
pub use records::Record;

/// Integers beyond this are not all doubles: 2^53 - 1.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Digits of a large integer that are kept to be shown.
const MAX_DIGITS: usize = 40;

/// What a text is made of.
pub struct Decoded {
    pub value: JsValue,
    /// The integers that a number cannot hold.
    pub large: LargeIntegers,
}

/// Integers that became strings; of `JSON.parse`, those that were rounded.
#[derive(Default)]
pub struct LargeIntegers {
    pub count: usize,
    /// The place of the first, as in `$.items[3].id`.
    pub first: String,
    /// The first as it stands in the text, as far as it is of any use.
    pub digits: String,
}

/// The value of a JSON text from the host. An integer beyond 2^53 becomes a string of its digits:
/// no digit is lost.
pub fn decode(text: &str, context: &mut Context) -> Result<Decoded, JsError> {
    let mut builder = Builder::new(Reader::new(text.as_bytes(), Encoding::Utf8), true, context);
    match builder.text() {
        Ok(value) => Ok(Decoded { value, large: builder.large }),
        Err(fault) => Err(fault.describe(text.as_bytes(), Encoding::Utf8)),
    }
}

/// The same for a text of the script's, or what is wrong with it.
pub fn read(text: &JsString, context: &mut Context) -> Result<JsValue, Described> {
    with_bytes(text, |bytes, encoding| {
        let mut builder = Builder::new(Reader::new(bytes, encoding), true, context);
        builder.text().map_err(|fault| fault.in_words(bytes, encoding))
    })
}

/// What `JSON.parse` gives, and what it rounded.
pub fn parse(text: &JsString, context: &mut Context) -> Result<Decoded, JsError> {
    parse_deep(text, context).map(|(decoded, _)| decoded)
}

/// What `JSON.parse` gives, with what stands where in the text; or how deep the text nests, where
/// that is deeper than `max_depth`.
pub fn parse_with_record(
    text: &JsString,
    max_depth: usize,
    context: &mut Context,
) -> Result<Result<(JsValue, Record), usize>, JsError> {
    let (Decoded { value, .. }, depth) = parse_deep(text, context)?;
    if depth > max_depth {
        return Ok(Err(depth));
    }
    let record = with_bytes(text, |bytes, encoding| {
        let record = records::record(&mut Reader::new(bytes, encoding), value.clone());
        record.map_err(|fault| fault.describe(bytes, encoding))
    })?;
    Ok(Ok((value, record)))
}

fn parse_deep(text: &JsString, context: &mut Context) -> Result<(Decoded, usize), JsError> {
    with_bytes(text, |bytes, encoding| {
        let mut builder = Builder::new(Reader::new(bytes, encoding), false, context);
        match builder.text() {
            Ok(value) => Ok((Decoded { value, large: builder.large }, builder.depth)),
            Err(fault) => Err(fault.describe(bytes, encoding)),
        }
    })
}

fn with_bytes<T>(text: &JsString, read: impl FnOnce(&[u8], Encoding) -> T) -> T {
    match text.variant() {
        JsStrVariant::Latin1(bytes) => read(bytes, Encoding::Latin1),
        JsStrVariant::Utf16(utf16) => read(&reader::wtf8(utf16), Encoding::Utf8),
    }
}

/// Makes values of tokens.
struct Builder<'text, 'context> {
    reader: Reader<'text>,
    keys: Strings<PropertyKey>,
    strings: Strings<JsString>,
    /// The arrays and objects that are not closed yet, the outermost first.
    open: Vec<Open>,
    /// The elements of all open arrays, those of the innermost last.
    elements: Vec<JsValue>,
    /// The deepest that arrays and objects were inside each other.
    depth: usize,
    keeps_digits: bool,
    large: LargeIntegers,
    context: &'context mut Context,
}

enum Open {
    /// An array, whose elements begin there.
    Array(usize),
    /// An object, and the key whose value comes next.
    Object(JsObject, PropertyKey),
}

impl<'text, 'context> Builder<'text, 'context> {
    fn new(reader: Reader<'text>, keeps_digits: bool, context: &'context mut Context) -> Self {
        Self {
            reader,
            keys: Strings::new(),
            strings: Strings::new(),
            open: Vec::new(),
            elements: Vec::new(),
            depth: 0,
            keeps_digits,
            large: LargeIntegers::default(),
            context,
        }
    }

    /// The value of the whole text.
    fn text(&mut self) -> Result<JsValue, Fault> {
        loop {
            let Some(mut value) = self.value()? else { continue };
            // What the value completes, it completes at once.
            loop {
                match self.open.last_mut() {
                    None => {
                        return match self.reader.next() {
                            None => Ok(value),
                            Some(_) => Err(self.reader.unexpected()),
                        };
                    }
                    Some(Open::Array(_)) => self.elements.push(value),
                    Some(Open::Object(object, key)) => {
                        // An own property, also for `__proto__`, and never a setter's call. The
                        // key's place is that of the next one.
                        let key = std::mem::replace(key, PropertyKey::from(0_u32));
                        object.insert_property(key, plain::property(value));
                    }
                }
                match self.after_member()? {
                    Some(closed) => value = closed,
                    None => break,
                }
            }
        }
    }

    /// A value that is complete, or nothing where an array or an object was opened that has
    /// members.
    fn value(&mut self) -> Result<Option<JsValue>, Fault> {
        Ok(Some(match self.reader.next() {
            Some(b'"') => {
                self.reader.skip();
                let text = self.reader.string()?;
                self.strings.get(&text).into()
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'{') => {
                self.reader.skip();
                let object = self.object();
                if self.reader.next() == Some(b'}') {
                    self.reader.skip();
                    return Ok(Some(object.into()));
                }
                let key = self.key()?;
                return Ok(self.begin(Open::Object(object, key)));
            }
            Some(b'[') => {
                self.reader.skip();
                if self.reader.next() == Some(b']') {
                    self.reader.skip();
                    return Ok(Some(JsArray::from_iter([], self.context).into()));
                }
                return Ok(self.begin(Open::Array(self.elements.len())));
            }
            Some(b't') => {
                self.reader.word("true")?;
                true.into()
            }
            Some(b'f') => {
                self.reader.word("false")?;
                false.into()
            }
            Some(b'n') => {
                self.reader.word("null")?;
                JsValue::null()
            }
            _ => return Err(self.reader.unexpected()),
        }))
    }

    /// An empty object, of a shape that it shares with all others: the engine's usual way makes one
    /// for each.
    fn object(&self) -> JsObject {
        let prototype = self.context.intrinsics().constructors().object().prototype();
        JsObject::new(self.context.root_shape(), prototype, OrdinaryObject).upcast()
    }

    fn begin(&mut self, open: Open) -> Option<JsValue> {
        self.open.push(open);
        self.depth = self.depth.max(self.open.len());
        None
    }

    /// A comma, behind which the next member is read; or the end of the innermost array or object,
    /// which is then complete.
    fn after_member(&mut self) -> Result<Option<JsValue>, Fault> {
        let next = self.reader.next();
        match (self.open.last(), next) {
            (Some(Open::Array(_)), Some(b',')) => self.reader.skip(),
            (Some(Open::Object(..)), Some(b',')) => {
                self.reader.skip();
                let next = self.key()?;
                if let Some(Open::Object(_, key)) = self.open.last_mut() {
                    *key = next;
                }
            }
            (Some(&Open::Array(start)), Some(b']')) => {
                self.reader.skip();
                self.open.pop();
                return Ok(Some(JsArray::from_iter(self.elements.drain(start..), self.context).into()));
            }
            (Some(Open::Object(object, _)), Some(b'}')) => {
                self.reader.skip();
                let object = object.clone();
                self.open.pop();
                return Ok(Some(object.into()));
            }
            _ => return Err(self.reader.unexpected()),
        }
        Ok(None)
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<PropertyKey, Fault> {
        if self.reader.next() != Some(b'"') {
            return Err(self.reader.unexpected());
        }
        self.reader.skip();
        let text = self.reader.string()?;
        let key = self.keys.get(&text);
        if self.reader.next() != Some(b':') {
            return Err(self.reader.unexpected());
        }
        self.reader.skip();
        Ok(key)
    }

    fn number(&mut self) -> Result<JsValue, Fault> {
        Ok(match self.reader.number()? {
            Number::Integer(value) => value.into(),
            Number::Float(value) => value.into(),
            Number::Large(digits) => {
                let value: f64 = digits.parse().unwrap_or(f64::NAN);
                if value.abs() > MAX_SAFE_INTEGER && (self.keeps_digits || is_rounded(digits, value)) {
                    if self.large.count == 0 {
                        self.large.first = self.place();
                        self.large.digits = digits.chars().take(MAX_DIGITS).collect();
                    }
                    self.large.count += 1;
                }
                if self.keeps_digits && value.abs() > MAX_SAFE_INTEGER {
                    JsString::from(digits).into()
                } else {
                    value.into()
                }
            }
        })
    }
}

/// Whether an integer is written with other digits once it is a number.
#[cold]
fn is_rounded(digits: &str, value: f64) -> bool {
    format!("{value}") != digits
}

impl Builder<'_, '_> {
    /// Where the value stands that comes next.
    fn place(&self) -> String {
        let mut end = self.elements.len();
        let mut steps = Vec::new();
        // The elements of an array end where those of the next inner one begin.
        for open in self.open.iter().rev() {
            steps.push(match open {
                Open::Array(start) => {
                    let index = end.saturating_sub(*start);
                    end = *start;
                    Err(index)
                }
                Open::Object(_, key) => Ok(key),
            });
        }
        let mut place = Place::default();
        for step in steps.into_iter().rev() {
            match step {
                Ok(key) => place.key(key),
                Err(index) => place.index(index as u64),
            }
        }
        place.text()
    }
}
