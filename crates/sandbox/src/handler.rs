//! What a [`ToolSet`](crate::ToolSet) does when one of its tools is called.

use std::sync::Arc;

use belljar_model::{JsonText, ScriptValue};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value, json};

use crate::{AnswerStyle, CallError, Thrown};

type JsonHandler = dyn Fn(Map<String, Value>) -> BoxFuture<'static, Result<Value, String>> + Send + Sync;
type ValuesHandler = dyn Fn(Vec<ScriptValue>) -> BoxFuture<'static, Result<ScriptValue, Thrown>> + Send + Sync;

/// A closure behind a tool.
#[derive(Clone)]
pub(crate) enum Handler {
    /// Takes named arguments, and returns JSON.
    Json(Arc<JsonHandler>),
    /// Takes values of the script, and returns one.
    Values(Arc<ValuesHandler>),
}

impl Handler {
    pub(crate) fn json<F, R>(handler: F) -> Self
    where
        F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Self::Json(Arc::new(move |arguments| handler(arguments).boxed()))
    }

    pub(crate) fn values<F, R>(handler: F) -> Self
    where
        F: Fn(Vec<ScriptValue>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ScriptValue, Thrown>> + Send + 'static,
    {
        Self::Values(Arc::new(move |arguments| handler(arguments).boxed()))
    }

    /// Calls it; the answer is in the style of the tool's namespace.
    pub(crate) fn call(
        &self,
        arguments: Vec<ScriptValue>,
        answers: AnswerStyle,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        match self {
            Self::Json(handler) => {
                let named = match arguments.into_iter().next().map(ScriptValue::into_plain) {
                    Some(Value::Object(named)) => named,
                    _ => Map::new(),
                };
                let answer = handler(named);
                async move { of_json(answer.await, answers) }.boxed()
            }
            Self::Values(handler) => {
                let answer = handler(arguments);
                async move { of_value(answer.await, answers) }.boxed()
            }
        }
    }
}

fn of_json(answer: Result<Value, String>, answers: AnswerStyle) -> Result<JsonText, CallError> {
    match (answer, answers) {
        (Ok(value), AnswerStyle::ToolResult) => {
            Ok(JsonText::from_value(&json!({ "content": [], "structuredContent": value })))
        }
        (Err(message), AnswerStyle::ToolResult) => {
            Ok(JsonText::from_value(&json!({ "content": [{ "type": "text", "text": message }], "isError": true })))
        }
        (Ok(value), AnswerStyle::Plain) => Ok(ScriptValue::from(value).to_json()),
        (Err(message), AnswerStyle::Plain) => Err(CallError::new(message)),
    }
}

fn of_value(answer: Result<ScriptValue, Thrown>, answers: AnswerStyle) -> Result<JsonText, CallError> {
    match answer {
        Ok(value) if answers == AnswerStyle::Plain => Ok(value.to_json()),
        Ok(value) => of_json(Ok(value.into_plain()), answers),
        Err(Thrown { name, message }) => Err(CallError::new(message).with_name(name)),
    }
}
