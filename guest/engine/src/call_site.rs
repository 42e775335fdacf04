//! Where in the script a function of ours was called.

use boa_engine::{Context, JsObject, JsResult};

use belljar_guest_source::Position;

use crate::{originals, stack};

/// Where in the script a call was made: an error that has the stack of then, and nothing else yet.
///
/// An error that is made when the answer comes would have no stack, since nothing of the script's
/// runs then.
#[derive(Clone)]
pub struct CallSite(JsObject);

impl CallSite {
    /// Here. To be asked from within a function that the script has called.
    pub fn here(context: &mut Context) -> JsResult<Self> {
        let constructor = context.intrinsics().constructors().error().constructor();
        Ok(Self(constructor.construct(&[], None, context)?))
    }

    /// The error, to become one of another kind.
    pub fn into_error(self) -> JsObject {
        self.0
    }

    /// Where it is in the author's source.
    pub fn position(&self, context: &mut Context) -> Option<Position> {
        stack::frames(&originals::raw_stack(&self.0, context)).first().map(|frame| frame.position)
    }
}

/// Where the script is that has called the function which asks.
pub fn here(context: &mut Context) -> Option<Position> {
    CallSite::here(context).ok()?.position(context)
}
