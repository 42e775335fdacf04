//! What to try, for errors that models run into.

use boa_engine::{Context, property::PropertyKey};

use belljar_guest_source::{self as source, Position};

use belljar_guest_algorithms::{absent, advice, nearest::nearest};

use super::{call, misuse, parse::Notation, servers, unread};

/// The object that finds and calls tools.
const TOOLS: &str = "tools";
/// What it has.
const OF_TOOLS: [&str; 6] = ["list", "search", "describe", "route", "call", "raw"];

/// What a script that succeeded may have got wrong: a promise of a tool that it took for the
/// result.
pub fn warning() -> Option<String> {
    // Without a call there is no such promise, and small scripts need not be read again. What a
    // prelude has made of a tool need not give one.
    (call::any_was_called() && !servers::has_prelude())
        .then(|| source::warning_of_promise(&servers::globals()))
        .flatten()
}

/// What is not there of what a call at this place was given, which a server or a built-in function
/// has refused.
pub fn argument_hint(message: &str, position: Option<Position>, context: &mut Context) -> Option<String> {
    let is_of_nothing = ["undefined", "null", "found nothing"].iter().any(|nothing| message.contains(nothing));
    is_of_nothing.then(|| misuse::argument_hint(position, context)).flatten()
}

/// A hint for an error, where one is known. `operand` is what the engine could not use, as the
/// source has it.
pub fn hint_for(
    name: &str,
    message: &str,
    operand: Option<&str>,
    position: Option<Position>,
    context: &mut Context,
) -> Option<String> {
    // There is nothing to try where the owner has said no.
    if name == "PolicyError" {
        return None;
    }
    if let Some(rest) = message.strip_prefix("globalThis.")
        && let Some(missing) = rest.strip_suffix(" is not a function")
    {
        return absent::instead_of(missing).map(str::to_owned);
    }
    if name != "ReferenceError" {
        let cause = match name {
            "TypeError" => hidden(message, operand)
                .or_else(|| of_tools(message, operand))
                .or_else(|| source::hint_for_promise(position, &servers::globals()))
                .or_else(|| {
                    message.starts_with("Invalid URL: ").then(|| argument_hint(message, position, context)).flatten()
                }),
            "SyntaxError" if message.ends_with("[object Promise]") => {
                let promise = source::hint_for_promise(position, &servers::globals());
                promise.or_else(|| source::hint_for_parsing(position, None, &servers::globals()))
            }
            "SyntaxError" if message.ends_with("): undefined") => {
                let nothing = "what JSON.parse was given is undefined: where does it come from? console.log shows it";
                argument_hint(message, position, context).or_else(|| Some(nothing.to_owned()))
            }
            "SyntaxError" => {
                let notation = unread::notation_of_refused(message, context).map(Notation::name);
                source::hint_for_parsing(position, notation, &servers::globals())
            }
            _ => None,
        };
        let reads_whole = || {
            let reads_whole = name == "TypeError" && message.contains("undefined") && source::reads_whole_result();
            reads_whole.then(|| advice::OWN_VALUE.to_owned())
        };
        let of_text = unread::hint_for_text(message, &servers::globals(), context);
        let mut of_shape = || (name == "TypeError").then(|| misuse::hint(message, operand, position, context))?;
        return cause
            .or_else(reads_whole)
            .or(of_text)
            .or_else(&mut of_shape)
            .or_else(|| argument_hint(message, position, context).filter(|_| operand.is_none()))
            .or_else(|| source::nothing_in(operand?, position))
            .or_else(|| of_date(name, message, context))
            .or_else(|| advice::of_message(name, message, operand));
    }
    if let Some(name) = quoted(message, "Cannot access '").filter(|_| message.ends_with("before initialization")) {
        return Some(before_declaration(name));
    }
    let name = message.strip_suffix(" is not defined")?;
    if let Some(advice) = advice::of_name(name) {
        return Some(advice.to_owned());
    }
    if let Some(hint) = absent::instead_of(name) {
        return Some(hint.to_owned());
    }
    let mut candidates = source::declared_names();
    if candidates.remove(name)
        && let Some(hint) = source::out_of_scope(name, position)
    {
        return Some(hint);
    }
    let is_assigned = source::is_assigned(name);
    candidates.extend(globals(context));
    match nearest(name, candidates.iter().map(String::as_str)) {
        Some(near) if is_assigned => Some(format!("declare it with `let {name} = …`; or did you mean {near}?")),
        None if is_assigned => Some(format!("a variable is declared before it is set: `let {name} = …`")),
        Some(near) => Some(format!("did you mean {near}?")),
        None => Some(format!(
            "this script declares no {name}, and nothing is kept from an earlier run: get it again, or declare it; {}",
            the_servers()
        )),
    }
}

/// What an invalid date was made of.
fn of_date(name: &str, message: &str, context: &mut Context) -> Option<String> {
    let date = context.misused(message).filter(|_| name == "RangeError")?.value?.as_object()?;
    let source = context.source_of_invalid_date(&date)?;
    Some(format!("the date was made of {source}, which is not a date"))
}

fn the_servers() -> String {
    format!("the servers here are: {}", servers::servers().join(", "))
}

fn quoted<'m>(message: &'m str, before: &str) -> Option<&'m str> {
    message.strip_prefix(before)?.split_once('\'').map(|(name, _)| name)
}

/// A variable that is used before it is set: most often one that is named after the server that is
/// called for its value.
fn before_declaration(name: &str) -> String {
    let line = source::declared_at(name).map_or_else(String::new, |line| format!(" in line {line}"));
    if servers::globals().contains(name) || name == TOOLS {
        let what = if name == TOOLS { "the object that finds and calls tools" } else { "the server" };
        return format!(
            "the variable {name}{line} hides {what} of this name: give it another name, as in `const {name}Result = …`"
        );
    }
    format!(
        "{name} is declared{line}, and has no value before that line is done: use it after it, or give one of the two another name"
    )
}

/// The name of what a script has in the place of a server.
fn hidden(message: &str, operand: Option<&str>) -> Option<String> {
    let expression = message.strip_suffix(" is not a function").or(operand)?;
    let end = expression.find(|character: char| !character.is_alphanumeric() && !"_$".contains(character));
    let root = expression.get(..end.unwrap_or(expression.len()))?;
    let is_hidden = servers::globals().contains(root) || root == TOOLS;
    let line = source::declared_at(root).filter(|_| is_hidden)?;
    let what = what_is_hidden(root);
    Some(format!("line {line} declares a variable {root}, which hides {what}: give it another name"))
}

fn what_is_hidden(name: &str) -> &'static str {
    if name == TOOLS { "the object that finds and calls tools" } else { "the server of this name" }
}

/// What is read of `tools` that is not there.
fn of_tools(message: &str, operand: Option<&str>) -> Option<String> {
    let expression = message.strip_suffix(" is not a function").or(operand)?;
    let member = expression.strip_prefix("tools.")?;
    let member = member.split(['.', '[', '(']).next().filter(|member| !OF_TOOLS.contains(member))?;
    let globals = servers::globals();
    if let Some(server) = nearest(member, globals.iter().map(String::as_str)) {
        return Some(format!("the servers are global objects: call {server}.tool(…), without `tools.` before it"));
    }
    Some(format!(
        "tools has list, search, describe, route, call and raw; a tool is called by its server, as in server.{member}(…), or as \
         tools.call(\"server.{member}\", {{ … }}); {}",
        the_servers()
    ))
}

fn globals(context: &mut Context) -> Vec<String> {
    let keys = context.global_object().own_property_keys(context).unwrap_or_default();
    let names = keys.into_iter().filter_map(|key| match key {
        PropertyKey::String(name) => Some(name.to_std_string_lossy()),
        _ => None,
    });
    names.collect()
}
