//! The process that filters: its one argument is the filter, its stdin the value.

use std::{
    ffi::OsString,
    io::{self, Read as _, Write as _},
    process::ExitCode,
};

use jaq_core::{
    Compiler, Ctx, Vars, compile, data,
    load::{self, Arena, File, Loader},
    unwrap_valr,
};
use jaq_json::Val;

use super::{EXPRESSION_BYTES, MEMORY, OUTPUT_BYTES, OUTPUTS, STACK, Said};

/// Of an error, what is shown.
const ERROR_CHARACTERS: usize = 300;

type Data = data::JustLut<Val>;

/// Reads the filter, says that it is ready, reads the value, and says what the filter gives.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    bound();
    let Some(expression) = arguments.next().and_then(|argument| argument.into_string().ok()) else {
        return ExitCode::from(2);
    };
    // The stack of a main thread is the system's choice; this one is ours.
    let work = std::thread::Builder::new().stack_size(STACK).spawn(move || work(&expression));
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::from(3),
    }
}

/// Lets the system bound what this process takes. Where it cannot, only the time is bounded.
#[cfg(unix)]
fn bound() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let at_most = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    // A lower bound that is there already is as good.
    let _ = setrlimit(Resource::As, at_most(MEMORY));
    let _ = setrlimit(Resource::Core, at_most(0));
}

#[cfg(not(unix))]
fn bound() {
    let _ = MEMORY;
}

fn work(expression: &str) -> io::Result<()> {
    let filter = match compiled(expression) {
        Ok(filter) => filter,
        Err(refusal) => return say(&refusal),
    };
    say(&Said::Ready)?;
    let mut value = Vec::new();
    io::stdin().read_to_end(&mut value)?;
    let value = match jaq_json::read::parse_single(&value) {
        Ok(value) => value,
        Err(error) => return say(&refused(format!("the value is no JSON: {error}"), None)),
    };
    let context = Ctx::<Data>::new(&filter.lut, Vars::new([]));
    let (mut outputs, mut bytes) = (Vec::new(), 0);
    for output in filter.id.run((context, value)).map(unwrap_valr) {
        let output = match output {
            Ok(output) => output.to_string(),
            Err(error) => {
                let hint = "'?' after a step passes over what does not fit, and '// null' gives a default";
                // It names the values that it is about, however large they are.
                let mut error = error.to_string();
                if let Some((end, _)) = error.char_indices().nth(ERROR_CHARACTERS) {
                    error.truncate(end);
                    error.push('…');
                }
                return say(&refused(format!("the filter failed: {error}"), Some(hint.to_owned())));
            }
        };
        bytes += output.len();
        if bytes > OUTPUT_BYTES || outputs.len() == OUTPUTS {
            let what = if bytes > OUTPUT_BYTES {
                format!("more than {OUTPUT_BYTES} bytes")
            } else {
                format!("more than {OUTPUTS} values")
            };
            let hint = "first(…) and limit(10; …) end a filter early";
            return say(&refused(format!("the filter gives {what}"), Some(hint.to_owned())));
        }
        outputs.push(output);
    }
    say(&Said::Outputs(outputs))
}

fn compiled(expression: &str) -> Result<jaq_core::Filter<Data>, Said> {
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

/// Where `part` stands in the filter, for people.
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

fn say(said: &Said) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
