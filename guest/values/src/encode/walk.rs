//! From a value to its text, member by member. Nothing here calls itself: the depth of a value
//! costs heap, and no stack.

use std::rc::Rc;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsString, JsValue, JsVariant, js_string, object::builtins::JsDate,
};

use belljar_guest_engine::originals::{enumerable_keys, get_of};

use super::{
    super::place::Place,
    MAX_DEPTH, MAX_DEPTH_OF_TEXT, extended,
    lost::{self, Loss, Losses},
    members::{Frame, Member},
    plain,
    shapes::{self, Layout},
    sink::{Escapes, Full, Sink},
    special::{self, Special},
};

/// Which values become what.
pub(super) struct Rules {
    /// What a value that leaves the jar is called in messages, or nothing for `JSON.stringify`.
    crossing: Option<String>,
    /// Whether it is extended JSON. Only of what leaves the jar.
    is_extended: bool,
    /// Whether only plain data is taken, which comes back as it is.
    is_plain: bool,
    replacer: Replacer,
    gap: String,
}

/// The second argument of `JSON.stringify`.
pub enum Replacer {
    None,
    Function(JsObject),
    Keys(Rc<[JsString]>),
}

impl Rules {
    pub(super) fn crossing(what: &str, is_extended: bool) -> Self {
        let (crossing, replacer) = (Some(what.to_owned()), Replacer::None);
        Self { crossing, is_extended, is_plain: false, replacer, gap: String::new() }
    }

    pub(super) fn kept(name: &str) -> Self {
        Self { is_plain: true, ..Self::crossing(name, false) }
    }

    pub(super) fn standard(replacer: Replacer, gap: String) -> Self {
        Self { crossing: None, is_extended: false, is_plain: false, replacer, gap }
    }
}

/// Why a value was not written to its end.
pub(super) enum Stop {
    Thrown(JsError),
    /// It is so large that its exact size is of no interest.
    Full,
}

impl From<JsError> for Stop {
    fn from(error: JsError) -> Self {
        Self::Thrown(error)
    }
}

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// A value, when `toJSON` and the replacer have had their say.
enum Resolved {
    LeftOut(JsValue),
    Value(JsValue),
    /// An object or array whose shape is known.
    Known(JsObject, Rc<Layout>),
}

pub(super) struct Walk<'context> {
    pub(super) sink: Sink,
    /// What was lost, where the value crosses.
    pub(super) lost: Losses,
    rules: Rules,
    /// The arrays and objects around the one that is being written, the outermost first.
    open: Vec<Frame>,
    /// Whether no prototype of plain objects and arrays has a `toJSON`, if nothing of the script's
    /// has run since it was seen.
    prototypes_are_plain: Option<bool>,
    context: &'context mut Context,
}

impl<'context> Walk<'context> {
    pub(super) fn new(rules: Rules, max: usize, context: &'context mut Context) -> Self {
        let escapes = if rules.crossing.is_some() { Escapes::None } else { Escapes::LoneSurrogates };
        Self {
            sink: Sink::new(max, escapes),
            lost: Losses::default(),
            rules,
            open: Vec::new(),
            prototypes_are_plain: None,
            context,
        }
    }

    /// Writes a whole value, and says whether there was anything to write.
    pub(super) fn whole(&mut self, value: &JsValue) -> Result<bool, Stop> {
        let mut frame = match self.resolve(value.clone(), None)? {
            Resolved::LeftOut(value) if self.rules.is_plain => return Err(self.error(None, plain::left_out(&value))),
            Resolved::LeftOut(value) if self.rules.is_extended && value.is_undefined() => {
                self.sink.put(extended::UNDEFINED)?;
                None
            }
            Resolved::LeftOut(value) if self.rules.crossing.is_some() => {
                // Most scripts that have no value mean to have none.
                if !value.is_undefined() {
                    self.note(Loss::of_left_out(&value), &value, None);
                }
                self.sink.put("null")?;
                None
            }
            Resolved::LeftOut(_) => return Ok(false),
            resolved => self.begin(resolved, None)?,
        };
        // The frame at work is not among those that are open.
        while let Some(mut current) = frame.take().or_else(|| self.open.pop()) {
            if let Some(nested) = self.members(&mut current)? {
                self.open.push(current);
                frame = Some(nested);
            }
        }
        Ok(true)
    }

    /// Writes members until one is an array or object itself, or there are no more.
    fn members(&mut self, frame: &mut Frame) -> Result<Option<Frame>, Stop> {
        loop {
            let mut has_run = false;
            let member = frame.next(&mut has_run, self.context);
            if has_run {
                self.prototypes_are_plain = None;
            }
            let (value, is_element) = match member? {
                Some(Member::Element(value)) => (value, true),
                Some(Member::Property(value)) => (value, false),
                None => return self.close(frame).map(|()| None),
            };
            let resolved = match self.resolved(value, Some(frame))? {
                Resolved::LeftOut(value) if self.rules.is_plain => {
                    if is_element || !value.is_undefined() {
                        return Err(self.error(Some(frame), plain::left_out(&value)));
                    }
                    continue;
                }
                Resolved::LeftOut(value) if is_element && self.rules.is_extended && value.is_undefined() => {
                    Resolved::Value(value)
                }
                Resolved::LeftOut(value) => {
                    if self.rules.crossing.is_some() {
                        self.note(Loss::of_left_out(&value), &value, Some(frame));
                    }
                    if !is_element {
                        continue;
                    }
                    // An element that cannot be written is `null`, so that the others keep their
                    // places.
                    Resolved::Value(JsValue::null())
                }
                resolved => resolved,
            };
            self.head(frame, is_element)?;
            frame.written += 1;
            if let Some(nested) = self.begin(resolved, Some(frame))? {
                return Ok(Some(nested));
            }
        }
    }

    /// Writes what goes before the value of a member: a comma, a new line, its key.
    fn head(&mut self, frame: &Frame, is_element: bool) -> Result<(), Full> {
        if self.rules.gap.is_empty()
            && let Some(head) = frame.head()
        {
            return self.sink.put(head);
        }
        if frame.written > 0 {
            self.sink.put(",")?;
        }
        self.new_line(self.open.len() + 1)?;
        if is_element {
            return Ok(());
        }
        self.sink.quote(&frame.key())?;
        self.sink.put(if self.rules.gap.is_empty() { ":" } else { ": " })
    }

    fn close(&mut self, frame: &Frame) -> Result<(), Stop> {
        if frame.written > 0 {
            self.new_line(self.open.len())?;
        }
        self.sink.put(if frame.is_array() { "]" } else { "}" })?;
        if self.rules.is_extended && frame.written == 1 && !frame.is_array() {
            self.sink.escape(frame.start)?;
        }
        Ok(())
    }

    #[inline]
    fn new_line(&mut self, depth: usize) -> Result<(), Full> {
        if self.rules.gap.is_empty() {
            return Ok(());
        }
        self.sink.put("\n")?;
        (0..depth).try_for_each(|_| self.sink.put(&self.rules.gap))
    }

    /// The same as [`Self::resolve`], with a short way for what has no `toJSON`: most of what is
    /// written.
    fn resolved(&mut self, value: JsValue, frame: Option<&Frame>) -> Result<Resolved, Stop> {
        let is_plain = value.is_string() || value.is_number() || value.is_boolean() || value.is_null();
        if is_plain && !matches!(self.rules.replacer, Replacer::Function(_)) {
            return Ok(Resolved::Value(value));
        }
        self.resolve(value, frame)
    }

    /// What is to be written for a value that stands in `frame`, or alone.
    fn resolve(&mut self, value: JsValue, frame: Option<&Frame>) -> Result<Resolved, Stop> {
        let mut value = value;
        let has_to_json = match value.variant() {
            JsVariant::Object(object) => {
                let layout = shapes::layout_of_plain(&object, self.context);
                match layout {
                    Some(layout) if !layout.has_to_json && self.prototypes_are_plain() => {
                        if matches!(self.rules.replacer, Replacer::Function(_)) {
                            false
                        } else {
                            return Ok(Resolved::Known(object, layout));
                        }
                    }
                    _ => true,
                }
            }
            _ => false,
        };
        // Scripts teach BigInts to be JSON by way of their prototype.
        if !self.rules.is_plain && (has_to_json || matches!(value.variant(), JsVariant::BigInt(_))) {
            self.prototypes_are_plain = None;
            let to_json = get_of(&value, js_string!("toJSON").into(), self.context)?;
            if let Some(to_json) = to_json.as_callable() {
                let made = to_json.call(&value, &[key_in(frame).into()], self.context)?;
                if made.is_null() && self.rules.crossing.is_some() && is_invalid_date(&value, self.context) {
                    self.note(Loss::InvalidDate, &value, frame);
                }
                value = made;
            }
        }
        if let Replacer::Function(replacer) = &self.rules.replacer {
            self.prototypes_are_plain = None;
            let holder = match frame {
                Some(frame) => frame.object.clone(),
                None => {
                    let holder = JsObject::with_object_proto(self.context.intrinsics());
                    holder.create_data_property_or_throw(js_string!(), value.clone(), self.context)?;
                    holder
                }
            };
            value = replacer.call(&holder.into(), &[key_in(frame).into(), value], self.context)?;
        }
        let is_left_out = value.is_undefined() || value.is_symbol() || value.is_callable();
        Ok(if is_left_out { Resolved::LeftOut(value) } else { Resolved::Value(value) })
    }

    /// Notes what is lost of a value that stands in `frame`, or alone.
    fn note(&mut self, loss: Loss, value: &JsValue, frame: Option<&Frame>) {
        let is_element = frame.is_some_and(Frame::is_array);
        if self.lost.counts(loss, is_element) {
            return;
        }
        let mut place = Place::default();
        for open in self.open.iter().chain(frame) {
            open.step(&mut place);
        }
        let first = format!("{} {}", place.text(), lost::named(loss, value, self.context));
        self.lost.begin(loss, is_element, first);
    }

    fn prototypes_are_plain(&mut self) -> bool {
        *self.prototypes_are_plain.get_or_insert_with(|| shapes::prototypes_are_plain(self.context))
    }

    /// Writes a value that has no members, or the beginning of one that has.
    fn begin(&mut self, resolved: Resolved, frame: Option<&Frame>) -> Result<Option<Frame>, Stop> {
        let value = match resolved {
            Resolved::LeftOut(_) => return Ok(None),
            Resolved::Known(object, layout) => return self.object(object, Some(layout), frame).map(Some),
            Resolved::Value(value) => value,
        };
        match value.variant() {
            JsVariant::Boolean(value) => self.sink.put(if value { "true" } else { "false" })?,
            JsVariant::Integer32(value) => self.sink.integer(value)?,
            JsVariant::Float64(number) => {
                if !number.is_finite() && self.rules.is_plain {
                    return Err(self.error(frame, plain::not_finite(&value)));
                }
                if !number.is_finite() && self.rules.crossing.is_some() {
                    self.note(Loss::NotFinite, &value, frame);
                }
                self.sink.float(number)?;
            }
            JsVariant::String(value) => self.sink.quote(&value)?,
            JsVariant::BigInt(_) => return Err(self.big_integer(frame)),
            JsVariant::Undefined if self.rules.is_extended => self.sink.put(extended::UNDEFINED)?,
            JsVariant::Null | JsVariant::Undefined | JsVariant::Symbol(_) => self.sink.put("null")?,
            JsVariant::Object(object) => return self.special(&object, frame),
        }
        Ok(None)
    }

    /// An object whose shape says nothing: it may be anything.
    fn special(&mut self, object: &JsObject, frame: Option<&Frame>) -> Result<Option<Frame>, Stop> {
        if self.rules.is_plain {
            self.prototypes_are_plain = None;
            return match plain::fault(object, self.context) {
                Some(fault) => Err(self.error(frame, fault)),
                None => self.object(object.clone(), None, frame).map(Some),
            };
        }
        let crosses = self.rules.crossing.is_some();
        let special = special::of(object, crosses, self.rules.is_extended, self.context);
        self.prototypes_are_plain = None;
        let start = self.sink.length();
        let opened = |walk: &mut Self, bracket: &str| {
            walk.check(object, frame)?;
            Ok::<(), Stop>(walk.sink.put(bracket)?)
        };
        Ok(Some(match special? {
            Special::None => return self.object(object.clone(), None, frame).map(Some),
            Special::Primitive(value) => return self.begin(Resolved::Value(value), frame),
            Special::Text(text) => {
                self.sink.put(&text)?;
                return Ok(None);
            }
            Special::Fault(fault) => return Err(self.error(frame, fault)),
            Special::Values(values) => {
                opened(self, "[")?;
                Frame::values(object.clone(), values)
            }
            Special::Pairs(pairs) => {
                if pairs.is_empty() && !enumerable_keys(object, self.context)?.is_empty() {
                    self.note(Loss::Members, &object.clone().into(), frame);
                }
                opened(self, "{")?;
                Frame::pairs(object.clone(), pairs).starting(start)
            }
        }))
    }

    fn object(&mut self, object: JsObject, layout: Option<Rc<Layout>>, frame: Option<&Frame>) -> Result<Frame, Stop> {
        self.check(&object, frame)?;
        if special::is_array(&object, self.context)? {
            let length = object.get(js_string!("length"), self.context)?.to_length(self.context)?;
            self.sink.put("[")?;
            return Ok(Frame::elements(object, length));
        }
        let start = self.sink.length();
        self.sink.put("{")?;
        if let Replacer::Keys(keys) = &self.rules.replacer {
            return Ok(Frame::named(object, keys.clone()));
        }
        match layout {
            // Elements come first, and are no part of a shape.
            Some(layout) if object.borrow().properties().index_property_keys().next().is_none() => {
                Ok(Frame::shaped(object, layout).starting(start))
            }
            _ => {
                self.prototypes_are_plain = None;
                let names = enumerable_keys(&object, self.context)?;
                if names.is_empty() && self.rules.crossing.is_some() && lost::is_hollow(&object) {
                    self.note(Loss::Hollow, &object.clone().into(), frame);
                }
                Ok(Frame::named(object, names.into()).starting(start))
            }
        }
    }

    /// Refuses what has no end.
    fn check(&self, object: &JsObject, frame: Option<&Frame>) -> Result<(), Stop> {
        let max_depth = match (&self.rules.crossing, self.rules.is_plain) {
            // It is handed back inside of an object.
            (_, true) => MAX_DEPTH - 1,
            (Some(_), false) => MAX_DEPTH,
            (None, false) => MAX_DEPTH_OF_TEXT,
        };
        let depth = self.open.len() + usize::from(frame.is_some());
        if depth >= max_depth {
            return Err(self.error(frame, format!("nests deeper than {max_depth} levels")));
        }
        if self.open.iter().chain(frame).any(|open| JsObject::equals(&open.object, object)) {
            return Err(self.error(frame, "is cyclic: it refers back to an object that holds it"));
        }
        Ok(())
    }

    fn big_integer(&self, frame: Option<&Frame>) -> Stop {
        self.error(frame, special::BIG_INTEGER)
    }

    /// A TypeError that names the place, as in `$.items[3].parent`.
    fn error(&self, frame: Option<&Frame>, fault: impl AsRef<str>) -> Stop {
        let what = self.rules.crossing.as_deref().unwrap_or("the value");
        let mut place = if self.rules.is_plain { Place::of(what) } else { Place::default() };
        self.open.iter().chain(frame).for_each(|frame| frame.step(&mut place));
        if self.rules.is_plain {
            let message = format!("{what} cannot be kept: {} {}", place.text(), fault.as_ref());
            return Stop::Thrown(JsNativeError::typ().with_message(message).into());
        }
        let message = format!("{what} cannot be JSON: {} {}", place.text(), fault.as_ref());
        Stop::Thrown(JsNativeError::typ().with_message(message).into())
    }
}

fn key_in(frame: Option<&Frame>) -> JsString {
    frame.map(Frame::key).unwrap_or_default()
}

/// Whether a value is a date that is none.
fn is_invalid_date(value: &JsValue, context: &mut Context) -> bool {
    let date = value.as_object().and_then(|object| JsDate::from_object(object).ok());
    let time = date.and_then(|date| date.get_time(context).ok()?.as_number());
    time.is_some_and(f64::is_nan)
}
