//! The members of an array or object that is being written, one after the other.

use std::rc::Rc;

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue};

use belljar_guest_engine::plain;

use super::{super::place::Place, shapes::Layout};

/// An array or object that is being written.
pub(super) struct Frame {
    pub(super) object: JsObject,
    members: Members,
    /// Members that were read.
    read: usize,
    /// Members that were written.
    pub(super) written: usize,
    /// Where an object begins in the text.
    pub(super) start: usize,
}

enum Members {
    /// The elements of an array, or of what stands for one, up to a length.
    Elements(u64),
    /// Values that were taken out before.
    Values(Vec<JsValue>),
    /// Keys that are known to be data, in a shape that is known.
    Shaped(Rc<Layout>),
    Named(Rc<[JsString]>),
    /// Members that were taken out before.
    Pairs(Vec<(JsString, JsValue)>),
}

/// A member: its value, and its key as JSON with a colon if it has one that is known so.
pub(super) enum Member {
    Element(JsValue),
    Property(JsValue),
}

impl Frame {
    fn new(object: JsObject, members: Members) -> Self {
        Self { object, members, read: 0, written: 0, start: 0 }
    }

    pub(super) fn elements(array: JsObject, length: u64) -> Self {
        Self::new(array, Members::Elements(length))
    }

    pub(super) fn values(owner: JsObject, values: Vec<JsValue>) -> Self {
        Self::new(owner, Members::Values(values))
    }

    pub(super) fn shaped(object: JsObject, layout: Rc<Layout>) -> Self {
        Self::new(object, Members::Shaped(layout))
    }

    pub(super) fn named(object: JsObject, names: Rc<[JsString]>) -> Self {
        Self::new(object, Members::Named(names))
    }

    pub(super) fn pairs(owner: JsObject, pairs: Vec<(JsString, JsValue)>) -> Self {
        Self::new(owner, Members::Pairs(pairs))
    }

    /// The same, of an object that begins there in the text.
    pub(super) fn starting(mut self, start: usize) -> Self {
        self.start = start;
        self
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.members, Members::Elements(_) | Members::Values(_))
    }

    /// The next member, if there is one left. A getter or a proxy may run code of the script's,
    /// which `has_run` tells.
    pub(super) fn next(&mut self, has_run: &mut bool, context: &mut Context) -> JsResult<Option<Member>> {
        let at = self.read;
        self.read += 1;
        let property = match &self.members {
            Members::Elements(length) => {
                let index = at as u64;
                if index >= *length {
                    return Ok(None);
                }
                let element = match plain::element(&self.object, index) {
                    Some(element) => element,
                    None => {
                        *has_run = true;
                        self.object.get(index, context)?
                    }
                };
                return Ok(Some(Member::Element(element)));
            }
            Members::Values(values) => return Ok(values.get(at).cloned().map(Member::Element)),
            Members::Shaped(layout) => match layout.keys.get(at) {
                None => None,
                Some(key) => Some(match plain::member(&self.object, &key.property) {
                    Some(value) => value,
                    None => {
                        *has_run = true;
                        self.object.get(key.property.clone(), context)?
                    }
                }),
            },
            Members::Named(names) => match names.get(at) {
                None => None,
                Some(name) => {
                    *has_run = true;
                    Some(self.object.get(name.clone(), context)?)
                }
            },
            Members::Pairs(pairs) => pairs.get(at).map(|(_, value)| value.clone()),
        };
        Ok(property.map(Member::Property))
    }

    /// What goes before the value of the member that was read last, as JSON without a gap, where it
    /// is at hand: a comma, if it is not the first that is written, and the key with its colon.
    pub(super) fn head(&self) -> Option<&str> {
        let Members::Shaped(layout) = &self.members else { return None };
        let quoted = &layout.keys.get(self.read.checked_sub(1)?)?.quoted;
        quoted.get(usize::from(self.written == 0)..)
    }

    /// The key of the member that was read last.
    pub(super) fn key(&self) -> JsString {
        let Some(at) = self.read.checked_sub(1) else { return JsString::default() };
        let name = match &self.members {
            Members::Elements(_) | Members::Values(_) => return JsString::from(at),
            Members::Shaped(layout) => layout.keys.get(at).map(|key| key.name.clone()),
            Members::Named(names) => names.get(at).cloned(),
            Members::Pairs(pairs) => pairs.get(at).map(|(name, _)| name.clone()),
        };
        name.unwrap_or_default()
    }

    /// Adds the step to the member that was read last.
    pub(super) fn step(&self, place: &mut Place) {
        if self.is_array() {
            place.index(self.read.saturating_sub(1) as u64);
        } else {
            place.name(&self.key());
        }
    }
}
