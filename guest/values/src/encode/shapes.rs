//! What is known of all objects that have a shape: their keys, already as JSON.

use std::{cell::RefCell, rc::Rc};

use boa_engine::{Context, JsObject, JsString, js_string, object::shape::Shape, property::PropertyKey};

use super::sink::quoted;

/// A power of two. What falls on a taken place takes it over.
const PLACES: usize = 64;
/// Objects with more properties than records have are not worth to be remembered.
const MAX_KEYS: usize = 64;

/// An enumerable property.
pub(super) struct Key {
    pub(super) property: PropertyKey,
    pub(super) name: JsString,
    /// The name as JSON, with a comma before it and its colon.
    pub(super) quoted: Box<str>,
}

/// What a shape says of its objects.
pub(super) struct Layout {
    /// The enumerable own properties with names, in their order.
    pub(super) keys: Box<[Key]>,
    /// Whether the objects have a `toJSON` of their own.
    pub(super) has_to_json: bool,
}

struct Known {
    /// Held, so that no other shape can come to have its address.
    shape: Shape,
    layout: Rc<Layout>,
}

thread_local! {
    static KNOWN: RefCell<Vec<Option<Known>>> = const { RefCell::new(Vec::new()) };
}

/// The layout of a plain object or array, if its shape is one that others share. Elements are no
/// part of it.
///
/// Plain is what has the language's own prototype and no behaviour of its own.
pub(super) fn layout_of_plain(object: &JsObject, context: &Context) -> Option<Rc<Layout>> {
    if !object.is_ordinary() && !object.is_array() {
        return None;
    }
    let object = object.borrow();
    let shape = object.shape();
    // A shape of one object changes with it.
    if !shape.is_shared() {
        return None;
    }
    let address = shape.to_addr_usize();
    KNOWN.with_borrow_mut(|known| {
        if known.is_empty() {
            known.resize_with(PLACES, || None);
        }
        let place = known.get_mut((address >> 4) & (PLACES - 1))?;
        if let Some(known) = place
            && known.shape.to_addr_usize() == address
        {
            return Some(known.layout.clone());
        }
        let constructors = context.intrinsics().constructors();
        let prototypes = [constructors.object().prototype(), constructors.array().prototype()];
        if !shape.prototype().is_some_and(|prototype| prototypes.contains(&prototype)) {
            return None;
        }
        let mut keys = Vec::new();
        let mut has_to_json = false;
        let all = shape.keys();
        if all.len() > MAX_KEYS {
            return None;
        }
        for property in all {
            let PropertyKey::String(name) = &property else { continue };
            // What half a surrogate pair becomes depends on where the text goes.
            name.to_std_string().ok()?;
            has_to_json |= *name == js_string!("toJSON");
            if object.properties().get(&property).is_some_and(|property| property.enumerable() == Some(true)) {
                let name = name.clone();
                keys.push(Key { quoted: format!(",{}:", quoted(&name)).into(), property, name });
            }
        }
        let layout = Rc::new(Layout { keys: keys.into(), has_to_json });
        *place = Some(Known { shape: shape.clone(), layout: layout.clone() });
        Some(layout)
    })
}

/// Whether the prototypes of plain objects and arrays have no `toJSON`.
pub(super) fn prototypes_are_plain(context: &Context) -> bool {
    let constructors = context.intrinsics().constructors();
    let (object, array) = (constructors.object().prototype(), constructors.array().prototype());
    let to_json = PropertyKey::from(js_string!("toJSON"));
    array.prototype().is_some_and(|prototype| prototype == object)
        && [object, array].iter().all(|prototype| !prototype.borrow().properties().contains_key(&to_json))
}
