//! What a named script takes: read by the interpreter in its own jar.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use belljar_arguments::{Compiled, Plan, Unfit};
use belljar_engine::Engine;
use belljar_model::{ErrorKind, JsonBounds, JsonText, Limits, RunError};
use belljar_sandbox::{Program, ToolSet};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::folder::Found;

/// How long reading one script may take. It usually takes about a millisecond.
const COMPUTE: Duration = Duration::from_secs(5);
/// The bounds for a schema that an author wrote.
const BOUNDS: JsonBounds = JsonBounds { bytes: 16 * 1024, depth: 32, values: 2_000 };
/// The client for which slots are requested.
const CLIENT: &str = "skills";

/// The result of reading a file.
pub(super) struct Read {
    digest: [u8; 32],
    file: String,
    /// Why the file is not used, if the file system objects.
    refused: Option<String>,
    signature: Result<Signature, Fault>,
}

/// What a script takes.
pub(super) struct Signature {
    pub(super) description: String,
    pub(super) schema: Map<String, Value>,
    pub(super) result: Option<Map<String, Value>>,
    /// The named scripts that it calls, by the names in its source.
    pub(super) calls: BTreeSet<String>,
}

struct Fault {
    text: String,
    /// Whether the fault is in the file, and not temporary.
    is_lasting: bool,
}

/// The signature as the interpreter returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    text: String,
    description: Option<String>,
    schema: Option<Map<String, Value>>,
    schema_text: Option<String>,
    result: Option<Map<String, Value>>,
    #[serde(default)]
    calls: BTreeSet<String>,
}

impl Read {
    /// Whether the result depends on the file alone, and is not temporary.
    pub(super) fn is_lasting(&self) -> bool {
        self.signature.as_ref().err().is_none_or(|fault| fault.is_lasting)
    }

    /// Whether this file was read, and need not be read again.
    pub(super) fn is_of(&self, found: &Found) -> bool {
        self.is_lasting()
            && self.digest == digest(&found.text)
            && self.file == found.file
            && self.refused == found.refused
    }

    pub(super) fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref().ok()
    }

    /// Why it cannot be called.
    pub(super) fn broken(&self, file: &str) -> Option<String> {
        self.signature.as_ref().err().map(|fault| format!("{file}{}", fault.text))
    }
}

/// Reads a file.
pub(super) async fn read(found: &Found, engine: &Engine) -> Read {
    let signature = match &found.refused {
        Some(refused) => Err(Fault { text: format!(": {refused}"), is_lasting: true }),
        None => signature(&found.text, engine).await,
    };
    Read { digest: digest(&found.text), file: found.file.clone(), refused: found.refused.clone(), signature }
}

/// The result for a file that could not be read now.
pub(super) fn unread(found: &Found) -> Read {
    let text = ": it is not read yet, since belljar is busy: try again in a moment".to_owned();
    let signature = Err(Fault { text, is_lasting: false });
    Read { digest: digest(&found.text), file: found.file.clone(), refused: found.refused.clone(), signature }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

async fn given(text: &str, engine: &Engine) -> Result<Given, Fault> {
    let limits = Limits { compute: COMPUTE, ..Limits::default() };
    let program = Program::new(text).with_client(CLIENT).only_signature();
    let outcome = engine.run(program).limits(&limits).tools(Arc::new(ToolSet::new())).await;
    let given = outcome.result.map_err(|error| {
        let is_lasting = matches!(error.kind, ErrorKind::Syntax | ErrorKind::Stack | ErrorKind::Fuel);
        Fault { text: said(&error), is_lasting }
    })?;
    serde_json::from_str(given.as_str()).map_err(|error| wrong(error.to_string()))
}

fn wrong(what: String) -> Fault {
    Fault { text: format!(": {what}"), is_lasting: true }
}

/// Converts any script to the form of a named one.
///
/// # Errors
/// Why it cannot be converted, as a text that follows its name.
pub(super) async fn named(text: &str, engine: &Engine) -> Result<String, String> {
    given(text, engine).await.map(|given| given.text).map_err(|fault| fault.text)
}

async fn signature(text: &str, engine: &Engine) -> Result<Signature, Fault> {
    let given = given(text, engine).await?;
    let Given { description, schema, schema_text, result, calls, .. } = given;
    let Some(description) = description else {
        let form = "write it as: export default async (args: { name: string }) => { … }";
        return Err(wrong(format!("its default export is not a function ({form})")));
    };
    let schema = match (schema, schema_text) {
        (Some(schema), _) => schema,
        (None, written) => {
            let written = JsonText::parse(written.unwrap_or_default(), &BOUNDS);
            let written = written.map_err(|error| wrong(format!("its @schema cannot be read: {error}")))?;
            serde_json::from_str(written.as_str()).map_err(|_| wrong("its @schema is not a JSON object".to_owned()))?
        }
    };
    is_usable(&schema).map_err(|unfit| wrong(format!("its schema cannot be used to check arguments: {unfit}")))?;
    Ok(Signature { description, schema, result, calls })
}

/// Whether arguments can be checked with a schema. A schema that is large to compile is examined
/// only when there are arguments.
fn is_usable(schema: &Map<String, Value>) -> Result<(), Unfit> {
    let schema = Value::Object(schema.clone());
    if Plan::of(&schema)?.is_small {
        Compiled::new(schema)?;
    }
    Ok(())
}

/// The problem, as a text that follows the name of the file.
fn said(error: &RunError) -> String {
    let place = match (error.line, error.column) {
        (Some(line), Some(column)) => format!(":{line}:{column}"),
        _ => String::new(),
    };
    let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{place}: {}{hint}", error.message)
}
