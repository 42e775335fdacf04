//! The filter process: its first request is the filter, its second one the value.

use std::{ffi::OsString, process::ExitCode};

use belljar_worker::{Bounds, FrameError, Role};

use jaq_core::{
    Compiler, Ctx, Vars, compile, data,
    load::{self, Arena, File, Loader},
    unwrap_valr,
};
use jaq_json::Val;

use super::{DESCRIPTORS, EXPRESSION_BYTES, MEMORY, OUTPUT_BYTES, OUTPUTS, STACK, Said, TIME, VALUE_BYTES};

/// The shown length of an error.
const ERROR_CHARACTERS: usize = 300;

type Data = data::JustLut<Val>;

/// A valid filter, compiled.
pub(super) type Compiled = jaq_core::Filter<Data>;

/// Reads the filter, reports that it is ready, reads the value, and returns the filter's results.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let bounds = Bounds { memory: Some(MEMORY), descriptors: Some(DESCRIPTORS), processor_time: Some(TIME) };
    let Ok(role) = Role::begin(arguments, bounds, VALUE_BYTES) else { return ExitCode::from(2) };
    // The main thread's stack is the system's choice, so this uses its own thread.
    let work = std::thread::Builder::new().stack_size(STACK).spawn(move || work(role));
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::from(3),
    }
}

fn work(mut role: Role) -> Result<(), FrameError> {
    let Some(expression) = role.receive()? else { return Ok(()) };
    let filter = match std::str::from_utf8(&expression).map_err(|_| unknown()).and_then(compiled) {
        Ok(filter) => filter,
        Err(refusal) => return say(&mut role, &refusal),
    };
    say(&mut role, &Said::Ready)?;
    let Some(value) = role.receive()? else { return Ok(()) };
    let said = outputs(&filter, &value, OUTPUT_BYTES).map_or_else(|refusal| refusal, Said::Outputs);
    say(&mut role, &said)
}

/// A filter's results for a value, or why there are none.
pub(super) fn outputs(filter: &Compiled, value: &[u8], max_bytes: usize) -> Result<Vec<String>, Said> {
    let value = jaq_json::read::parse_single(value)
        .map_err(|error| refused(format!("the value is not JSON: {error}"), None))?;
    let context = Ctx::<Data>::new(&filter.lut, Vars::new([]));
    let (mut outputs, mut bytes) = (Vec::new(), 0);
    for output in filter.id.run((context, value)).map(unwrap_valr) {
        let output = match output {
            Ok(output) => output.to_string(),
            Err(error) => {
                let hint = "'?' after a step ignores values that do not fit, and '// null' gives a default";
                // The message quotes values, however large they are.
                let mut error = error.to_string();
                if let Some((end, _)) = error.char_indices().nth(ERROR_CHARACTERS) {
                    error.truncate(end);
                    error.push('…');
                }
                return Err(refused(format!("the filter failed: {error}"), Some(hint.to_owned())));
            }
        };
        bytes += output.len();
        if bytes > max_bytes || outputs.len() == OUTPUTS {
            let what = if bytes > max_bytes {
                format!("more than {max_bytes} bytes")
            } else {
                format!("more than {OUTPUTS} values")
            };
            let hint = "first(…) and limit(10; …) end a filter early";
            return Err(refused(format!("the filter gives {what}"), Some(hint.to_owned())));
        }
        outputs.push(output);
    }
    Ok(outputs)
}

pub(super) fn compiled(expression: &str) -> Result<Compiled, Said> {
    if expression.len() > EXPRESSION_BYTES {
        return Err(refused(format!("the filter has more than {EXPRESSION_BYTES} bytes"), None));
    }
    let definitions = || jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = || jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(definitions()).load(&arena, File { code: expression, path: () });
    let modules = modules
        .map_err(|errors| errors.into_iter().next().map_or_else(unknown, |(_, error)| loading(expression, error)))?;
    Compiler::default().with_funs(functions()).compile(modules).map_err(|errors| {
        let error = errors.into_iter().flat_map(|(_, errors)| errors).next();
        let names = || functions().map(|(name, ..)| name).chain(definitions().map(|definition| definition.name));
        error.map_or_else(unknown, |error| undefined(expression, error, &names().collect::<Vec<_>>()))
    })
}

fn loading(expression: &str, error: load::Error<&str>) -> Said {
    let (expected, found) = match error {
        load::Error::Io(errors) => {
            let path = errors.first().map_or("", |(path, _)| path);
            return refused(
                format!("the filter wants the file '{path}'"),
                Some("a filter has no files: write the definitions into it".to_owned()),
            );
        }
        load::Error::Lex(errors) => match errors.into_iter().next() {
            Some((expected, found)) => (expected.as_str(), found),
            None => return unknown(),
        },
        load::Error::Parse(errors) => match errors.into_iter().next() {
            Some((expected, found)) => (expected.as_str(), found),
            None => return unknown(),
        },
    };
    let expected = if expected.is_empty() { "nothing more" } else { expected };
    let shown: String = found.chars().take(20).collect();
    let found_text = if shown.is_empty() { "its end".to_owned() } else { format!("'{shown}'") };
    refused(
        format!("the filter is wrong at {}: expected {expected}, found {found_text}", place(expression, found)),
        Some("it is written in jq's language, as in '.items[] | {name, size}'".to_owned()),
    )
}

fn undefined(expression: &str, (found, undefined): compile::Error<&str>, names: &[&str]) -> Said {
    let message =
        format!("the filter is wrong at {}: there is no {} '{found}'", place(expression, found), undefined.as_str());
    let hint = match undefined {
        compile::Undefined::Filter(arity) if names.contains(&found) => {
            Some(format!("'{found}' takes another number of arguments than {arity}"))
        }
        compile::Undefined::Filter(_) => {
            let near = belljar_model::nearest(found, names.iter().copied());
            Some(near.map_or_else(
                || format!("a key of an object has a dot, as in .{found}"),
                |near| format!("did you mean {near}, or the key .{found}?"),
            ))
        }
        _ => None,
    };
    refused(message, hint)
}

/// The position of `part` in the filter, for people.
fn place(expression: &str, part: &str) -> String {
    let before = expression.get(..load::span(expression, part).start).unwrap_or(expression);
    let (line, last) = (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or(before));
    let column = last.chars().count() + 1;
    if line == 1 { format!("column {column}") } else { format!("line {line}, column {column}") }
}

fn refused(message: impl Into<String>, hint: Option<String>) -> Said {
    Said::Refused { message: message.into(), hint }
}

fn unknown() -> Said {
    refused("the filter is wrong", None)
}

fn say(role: &mut Role, said: &Said) -> Result<(), FrameError> {
    role.send(&serde_json::to_vec(said).map_err(std::io::Error::from)?)
}
