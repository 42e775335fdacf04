//! `structuredClone`.
//!
//! Objects are copied first and filled later, from a list of what is left to do: no depth of
//! nesting recurses in here.

use std::collections::HashMap;

use boa_engine::{
    Context, JsBigInt, JsError, JsObject, JsResult, JsString, JsValue,
    builtins::{error::Error, typed_array::TypedArrayKind},
    js_string,
    object::builtins::{JsArray, JsArrayBuffer, JsDataView, JsDate, JsRegExp, JsTypedArray},
    property::PropertyKey,
};

use belljar_guest_engine::{
    collections::{Map, Set},
    errors,
    objects::put_hidden,
    originals::own_data_property,
};
use belljar_guest_values::{encode::boxed_primitive, inspect};

use super::{array_buffer, exception::exception, items, option, required};

/// Steps of a path that an error names.
const MAX_STEPS: usize = 32;

/// `structuredClone(value, { transfer })`.
pub(super) fn structured_clone(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = required(arguments, 0, "structuredClone")?;
    let transferred = transferred(arguments.get(1), context)?;
    let mut cloner = Cloner { copies: HashMap::new(), places: Vec::new(), left: Vec::new(), context };
    let clone = cloner.copy(value, Place { parent: None, step: Step::Top })?;
    while let Some(job) = cloner.left.pop() {
        cloner.fill(job)?;
    }
    // A transferred buffer is one that its former owner has no longer.
    for buffer in transferred {
        buffer.detach(&JsValue::undefined())?;
    }
    Ok(clone)
}

fn transferred(options: Option<&JsValue>, context: &mut Context) -> JsResult<Vec<JsArrayBuffer>> {
    let list = option(options, "transfer", context)?;
    if list.is_undefined() {
        return Ok(Vec::new());
    }
    let mut buffers: Vec<JsArrayBuffer> = Vec::new();
    for item in items(&list, context)? {
        let buffer = item.as_object().and_then(|object| JsArrayBuffer::from_object(object).ok());
        match buffer.filter(|buffer| buffer.data().is_some()) {
            Some(buffer) => buffers.push(buffer),
            None => {
                let message = "structuredClone: transfer takes ArrayBuffers alone, which were not transferred before";
                return Err(exception("DataCloneError", message, context));
            }
        }
    }
    Ok(buffers)
}

/// Where a value is, for messages.
struct Place {
    parent: Option<usize>,
    step: Step,
}

enum Step {
    Top,
    Key(PropertyKey),
    MapKey,
    MapValue,
    SetValue,
}

/// A copy whose contents are still missing.
struct Job {
    source: JsObject,
    copy: JsObject,
    place: usize,
}

struct Cloner<'context> {
    /// The copy of each object that was met.
    copies: HashMap<JsObject, JsObject>,
    places: Vec<Place>,
    left: Vec<Job>,
    context: &'context mut Context,
}

impl Cloner<'_> {
    /// A value's copy, whose contents may still be missing.
    fn copy(&mut self, value: &JsValue, place: Place) -> JsResult<JsValue> {
        if value.is_symbol() {
            return Err(self.refusal(value, place));
        }
        let Some(source) = value.as_object() else { return Ok(value.clone()) };
        if let Some(copy) = self.copies.get(&source) {
            return Ok(copy.clone().into());
        }
        self.places.push(place);
        let index = self.places.len() - 1;
        let Some((copy, has_contents)) = self.shell(&source, index)? else {
            let place = self.places.pop().unwrap_or(Place { parent: None, step: Step::Top });
            return Err(self.refusal(value, place));
        };
        self.copies.insert(source.clone(), copy.clone());
        if has_contents {
            self.left.push(Job { source, copy: copy.clone(), place: index });
        }
        Ok(copy.into())
    }

    /// An object of the same kind, without contents; and whether it can have some.
    fn shell(&mut self, source: &JsObject, place: usize) -> JsResult<Option<(JsObject, bool)>> {
        let context = &mut *self.context;
        let constructors = context.intrinsics().constructors();
        if source.is_array() {
            let copy = JsArray::new(context)?;
            let length = own_data_property(source, js_string!("length"), context).unwrap_or_default();
            copy.set(js_string!("length"), length, true, context)?;
            return Ok(Some((copy.into(), true)));
        }
        if source.is_ordinary() {
            return Ok(Some((JsObject::with_object_proto(context.intrinsics()), true)));
        }
        if source.is::<Map>() {
            return Ok(Some((Map::object(context), true)));
        }
        if source.is::<Set>() {
            return Ok(Some((Set::object(context), true)));
        }
        if let Ok(date) = JsDate::from_object(source.clone()) {
            let time = date.get_time(context)?;
            let date = context.intrinsics().constructors().date().constructor();
            return Ok(Some((date.construct(&[time], None, context)?, false)));
        }
        if let Ok(expression) = JsRegExp::from_object(source.clone()) {
            let (pattern, flags) = (expression.source(context)?, expression.flags(context)?);
            let copy = JsRegExp::new(JsString::from(pattern), JsString::from(flags), context)?;
            return Ok(Some((copy.into(), false)));
        }
        if let Some(error) = source.downcast_ref::<Error>().map(|error| error.clone()) {
            return self.error(source, error, place).map(|copy| Some((copy, false)));
        }
        if let Ok(buffer) = JsArrayBuffer::from_object(source.clone()) {
            let bytes = buffer.to_vec();
            let Some(bytes) = bytes else { return Ok(None) };
            return Ok(Some((array_buffer(&bytes, context)?.into(), false)));
        }
        if let Ok(array) = JsTypedArray::from_object(source.clone()) {
            let view = (array.buffer(context)?, array.byte_offset(context)?, array.length(context)?);
            let Some(kind) = array.kind() else { return Ok(None) };
            let constructor = typed_array(kind, context);
            return self.view(&constructor, view, place).map(|copy| Some((copy, false)));
        }
        if let Ok(data) = JsDataView::from_object(source.clone()) {
            let (offset, length) = (data.byte_offset(context)?, data.byte_length(context)?);
            let view = (data.buffer(context)?, offset as usize, length as usize);
            let constructor = context.intrinsics().constructors().data_view().constructor();
            return self.view(&constructor, view, place).map(|copy| Some((copy, false)));
        }
        let constructor = match boxed_primitive(source) {
            Some(value) if value.is_string() => Some((constructors.string().constructor(), value)),
            Some(value) if value.is_boolean() => Some((constructors.boolean().constructor(), value)),
            Some(value) => Some((constructors.number().constructor(), value)),
            None => None,
        };
        if let Some((constructor, value)) = constructor {
            return Ok(Some((constructor.construct(&[value], None, context)?, false)));
        }
        let big = source.downcast_ref::<JsBigInt>().map(|big| big.clone());
        match big {
            Some(big) => Ok(Some((JsValue::from(big).to_object(context)?, false))),
            None => Ok(None),
        }
    }

    /// A view of the copy of its buffer.
    fn view(
        &mut self,
        constructor: &JsObject,
        (buffer, offset, length): (JsValue, usize, usize),
        place: usize,
    ) -> JsResult<JsObject> {
        let step = Step::Key(js_string!("buffer").into());
        let buffer = self.copy(&buffer, Place { parent: Some(place), step })?;
        constructor.construct(&[buffer, JsValue::from(offset), JsValue::from(length)], None, self.context)
    }

    /// An error with its name, message, stack and cause; of other names it becomes an `Error`.
    fn error(&mut self, source: &JsObject, error: Error, place: usize) -> JsResult<JsObject> {
        let (name, _) = errors::name_and_message(source, self.context);
        let constructors = self.context.intrinsics().constructors();
        let constructor = match name.as_str() {
            "EvalError" => constructors.eval_error(),
            "RangeError" => constructors.range_error(),
            "ReferenceError" => constructors.reference_error(),
            "SyntaxError" => constructors.syntax_error(),
            "TypeError" => constructors.type_error(),
            "URIError" => constructors.uri_error(),
            _ => constructors.error(),
        };
        let copy = JsObject::from_proto_and_data(constructor.prototype(), error);
        self.copies.insert(source.clone(), copy.clone());
        if let Some(message) = own_data_property(source, js_string!("message"), self.context) {
            let message = message.to_string(self.context)?;
            put_hidden(&copy, "message", message, self.context)?;
        }
        if let Some(cause) = own_data_property(source, js_string!("cause"), self.context) {
            let step = Step::Key(js_string!("cause").into());
            let cause = self.copy(&cause, Place { parent: Some(place), step })?;
            put_hidden(&copy, "cause", cause, self.context)?;
        }
        Ok(copy)
    }

    fn fill(&mut self, Job { source, copy, place }: Job) -> JsResult<()> {
        if let Some(entries) = Map::entries_of(&source) {
            for (key, value) in entries {
                let key = self.copy(&key, Place { parent: Some(place), step: Step::MapKey })?;
                let value = self.copy(&value, Place { parent: Some(place), step: Step::MapValue })?;
                Map::put(&copy, &key, value);
            }
            return Ok(());
        }
        if let Some(values) = Set::members_of(&source) {
            for value in values {
                let value = self.copy(&value, Place { parent: Some(place), step: Step::SetValue })?;
                Set::put(&copy, &value);
            }
            return Ok(());
        }
        for key in source.own_property_keys(self.context)? {
            if matches!(key, PropertyKey::Symbol(_)) {
                continue;
            }
            // Looked up anew: a getter may have removed it meanwhile.
            let is_listed = source.borrow().properties().get(&key).is_some_and(|property| property.expect_enumerable());
            if is_listed {
                let value = source.get(key.clone(), self.context)?;
                let value = self.copy(&value, Place { parent: Some(place), step: Step::Key(key.clone()) })?;
                copy.create_data_property_or_throw(key, value, self.context)?;
            }
        }
        Ok(())
    }

    /// What cannot be copied, and where it is.
    fn refusal(&mut self, value: &JsValue, place: Place) -> JsError {
        let mut steps = Vec::new();
        let mut next = Some(&place);
        while let Some(place) = next
            && steps.len() <= MAX_STEPS
        {
            steps.push(match &place.step {
                Step::Top => "$".to_owned(),
                Step::Key(PropertyKey::Index(index)) => format!("[{}]", index.get()),
                Step::Key(key) => inspect::member(&key.to_string()),
                Step::MapKey => ".<key of the Map>".to_owned(),
                Step::MapValue => ".<value of the Map>".to_owned(),
                Step::SetValue => ".<value of the Set>".to_owned(),
            });
            next = place.parent.and_then(|parent| self.places.get(parent));
        }
        if next.is_some() {
            steps.push("…".to_owned());
        }
        steps.reverse();
        let shown: String = inspect::nested(value, self.context).chars().take(100).collect();
        let message = format!("structuredClone cannot copy {shown}, which is at {}", steps.concat());
        exception("DataCloneError", &message, self.context)
    }
}

fn typed_array(kind: TypedArrayKind, context: &Context) -> JsObject {
    let constructors = context.intrinsics().constructors();
    let constructor = match kind {
        TypedArrayKind::Int8 => constructors.typed_int8_array(),
        TypedArrayKind::Uint8 => constructors.typed_uint8_array(),
        TypedArrayKind::Uint8Clamped => constructors.typed_uint8clamped_array(),
        TypedArrayKind::Int16 => constructors.typed_int16_array(),
        TypedArrayKind::Uint16 => constructors.typed_uint16_array(),
        TypedArrayKind::Int32 => constructors.typed_int32_array(),
        TypedArrayKind::Uint32 => constructors.typed_uint32_array(),
        TypedArrayKind::BigInt64 => constructors.typed_bigint64_array(),
        TypedArrayKind::BigUint64 => constructors.typed_biguint64_array(),
        TypedArrayKind::Float16 => constructors.typed_float16_array(),
        TypedArrayKind::Float32 => constructors.typed_float32_array(),
        TypedArrayKind::Float64 => constructors.typed_float64_array(),
    };
    constructor.constructor()
}
