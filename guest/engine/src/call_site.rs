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

    /// Where it is in the author's source: of a call in a script with a name, nowhere.
    pub fn position(&self, context: &mut Context) -> Option<Position> {
        stack::frames(&self.stack(context)).first()?.in_script()
    }

    /// Whether both are of one call.
    pub fn is(&self, other: &Self) -> bool {
        JsObject::equals(&self.0, &other.0)
    }

    /// Its stack, as the engine writes it.
    pub fn stack(&self, context: &mut Context) -> String {
        originals::raw_stack(&self.0, context)
    }
}

/// Where the script is that has called the function which asks.
pub fn here(context: &mut Context) -> Option<Position> {
    CallSite::here(context).ok()?.position(context)
}
