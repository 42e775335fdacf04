//! What a script with a name takes: read here, since the host parses no script. Nothing is run.

use std::fmt::Write as _;

use boa_engine::Context;

use belljar_guest_bindings::Failure;
use belljar_guest_source::{self as source, Globals, Named, Schema, Signature, write_text};

use crate::{failure, interpreter};

/// The signature as JSON, in the form of `program.only-signature`.
///
/// # Errors
/// Why it is not a script with a name.
pub(crate) fn read(text: &str, context: &mut Context) -> Result<String, Failure> {
    let Named { text: named, signature } = source::signature(text).map_err(failure::of_syntax)?;
    // What the engine cannot read shows only when it reads it.
    let translated = source::translate_named(text, &Globals::NONE).map_err(failure::of_syntax)?;
    translated.origin.keep();
    interpreter::parse(&translated.code, context).map_err(|error| interpreter::unparsable(error, context))?;
    let mut out = String::from("{\"text\":");
    write_text(&named, &mut out);
    let Some(Signature { description, schema, result, calls }) = signature else {
        out.push('}');
        return Ok(out);
    };
    out.push_str(",\"description\":");
    write_text(&description, &mut out);
    match schema {
        // Writing to a String cannot fail.
        Schema::Derived(schema) => drop(write!(out, ",\"schema\":{schema}")),
        Schema::Written(text) => {
            out.push_str(",\"schemaText\":");
            write_text(&text, &mut out);
        }
    }
    if let Some(result) = result {
        // Writing to a String cannot fail.
        let _ = write!(out, ",\"result\":{result}");
    }
    out.push_str(",\"calls\":[");
    for (at, call) in calls.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(call, &mut out);
    }
    out.push_str("]}");
    Ok(out)
}
