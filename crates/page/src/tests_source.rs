//! What the page shows in tests.

use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{Asked, Export, NotShown, Source, Task, WrittenCall};

/// Remembers what was decided, called and cancelled. Its question is always the same.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) decided: Mutex<Vec<(String, String, bool)>>,
    pub(crate) called: Mutex<Vec<WrittenCall>>,
    pub(crate) cancelled: Mutex<Vec<String>>,
}

impl Source for Kept {
    fn shown(&self, asked: Asked) -> BoxFuture<'_, Result<Value, NotShown>> {
        let shown = match asked {
            Asked::Run(run) => Err(NotShown::Unknown(format!("no {run}"))),
            asked => Ok(json!(format!("{asked:?}"))),
        };
        ready(shown).boxed()
    }

    fn done(&self, task: Task) -> BoxFuture<'_, Result<Value, NotShown>> {
        ready(Ok(json!(format!("{task:?}")))).boxed()
    }

    fn exported(&self, _: String, _: Export) -> BoxFuture<'_, Result<Vec<u8>, NotShown>> {
        ready(Ok(b"1".to_vec())).boxed()
    }

    fn cancel(&self, run: String) -> BoxFuture<'_, Result<(), NotShown>> {
        self.cancelled.lock().push(run);
        ready(Ok(())).boxed()
    }

    fn call(&self, call: WrittenCall) -> BoxFuture<'_, Result<Value, NotShown>> {
        self.called.lock().push(call);
        ready(Ok(json!({ "ok": true }))).boxed()
    }

    fn question(&self, id: String) -> BoxFuture<'_, Result<(Value, String), NotShown>> {
        ready(Ok((json!({ "id": id }), "exactly this".to_owned()))).boxed()
    }

    fn decide(&self, id: String, identity: String, approve: bool) -> BoxFuture<'_, Result<(), NotShown>> {
        self.decided.lock().push((id, identity, approve));
        ready(Ok(())).boxed()
    }

    fn metrics(&self) -> BoxFuture<'_, (&'static str, String)> {
        ready(("text/plain", "m 1\n".to_owned())).boxed()
    }

    fn updates(&self) -> BoxStream<'static, Value> {
        stream::pending().boxed()
    }
}
