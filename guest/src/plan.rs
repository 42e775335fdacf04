//! Before a script runs: the calls that stand in its source are held against what the host knows of
//! the tools. One that is certainly made and certain to fail stops the script while nothing was
//! called; what is merely likely to fail is told in the logs.

use std::fmt::Write as _;

use boa_engine::{Context, JsResult, JsString, js_string, property::PropertyKey};

use belljar_guest_bindings::{
    Failure, FailureKind, MissingTool, Program,
    belljar::sandbox::{
        catalog::{self, Finding, Objection},
        console,
    },
};
use belljar_guest_engine::scripts;
use belljar_guest_globals as globals;
use belljar_guest_source::{Known, Position, Reach, Site, Sites, Stranger, write_text};

use crate::failure;

/// Faults that are told of one script, and warnings.
const MAX_FAULTS: usize = 10;
const MAX_WARNINGS: usize = 5;
/// Characters of a line of the source that is shown.
const MAX_LINE: usize = 160;
/// Bytes of the question to the host, which takes no longer one.
const MAX_QUESTION: usize = 64 * 1024;

/// What would go wrong at a place of the source.
struct Fault {
    position: Position,
    message: String,
    hint: Option<String>,
    missing: Option<MissingTool>,
}

/// Looks at the calls of a script.
///
/// # Errors
/// Why it is not run. The first fault has the failure's position and hint, as it would have if the
/// script had come to it; the others stand below it, each with its own.
pub(crate) fn look(sites: &Sites, program: &Program, context: &mut Context) -> Result<(), Failure> {
    // What a prelude declares is known when it has run.
    let is_unknown = program.only_plan && program.prelude.is_some();
    let found = if is_unknown { Ok(Vec::new()) } else { strangers(sites, program, context) };
    let mut faults: Vec<Fault> = found.unwrap_or_default();
    let (known, numbers): (Vec<&Site>, Vec<u32>) =
        sites.all.iter().filter_map(|site| Some((site, number_of(site)?))).filter(is_of_a_tool).unzip();
    let of_no_server = sites.all.iter().filter(|site| site.is_fatal && number_of(site).is_none());
    faults.extend(of_no_server.map(|site| {
        let (message, hint) = globals::texts_of_no_server(&site.server);
        Fault { position: site.position, message: format!("TypeError: {message}"), hint: Some(hint), missing: None }
    }));
    let mut warnings = Vec::new();
    if !known.is_empty() || program.only_plan {
        let findings = catalog::plan(&question(sites, &known, &numbers));
        for ((site, number), finding) in known.iter().zip(numbers).zip(findings) {
            let Some((fault, is_certain)) = fault(site, number, finding) else { continue };
            if site.is_fatal && is_certain {
                faults.push(fault);
            } else if !site.is_guarded {
                warnings.push(fault);
            }
        }
    }
    if let Some(failure) = refusal(faults, &program.source) {
        return Err(failure);
    }
    for Fault { position, message, .. } in warnings.iter().take(MAX_WARNINGS) {
        let (line, column) = (position.line, position.column);
        let text = format!("line {line}, column {column}: this call would fail if the script came to it: {message}");
        console::write(console::Level::Warn, &text);
    }
    Ok(())
}

fn number_of(site: &Site) -> Option<u32> {
    if is_function(site) {
        return globals::tool_of_function(&site.tool).map(|(number, _)| number);
    }
    if site.by_path { globals::number_of_server(&site.server) } else { globals::number_of_global(&site.server) }
}

/// Whether a global function is called.
fn is_function(site: &Site) -> bool {
    site.server.is_empty() && !site.by_path
}

/// Whether it is a tool that is called, and nothing that a prelude has put in its place.
fn is_of_a_tool((site, number): &(&Site, u32)) -> bool {
    !globals::is_own(*number, &site.tool)
}

/// The names that nobody declares, and that are no globals of the language either.
fn strangers(sites: &Sites, program: &Program, context: &mut Context) -> JsResult<Vec<Fault>> {
    let mut faults = Vec::new();
    for Stranger { name, position } in &sites.strangers {
        let key = PropertyKey::from(JsString::from(name.as_str()));
        if name == "arguments" || context.global_object().has_property(key, context)? {
            continue;
        }
        // A prelude's declarations are no properties.
        let is_declared = |context: &mut Context| {
            let found = scripts::evaluate(&format!("typeof {name}"), None, context);
            found.map_or(true, |found| found.as_string().is_none_or(|found| found != js_string!("undefined")))
        };
        if program.prelude.is_some() && is_declared(context) {
            continue;
        }
        let message = format!("{name} is not defined");
        let hint = globals::hint_for("ReferenceError", &message, None, Some(*position), context);
        faults.push(Fault { position: *position, message: format!("ReferenceError: {message}"), hint, missing: None });
    }
    Ok(faults)
}

/// What would become of a call, and whether that is certain.
fn fault(site: &Site, number: u32, finding: Finding) -> Option<(Fault, bool)> {
    let mut missing = None;
    let (message, hint, is_certain) = match finding {
        Finding::Nothing => return None,
        Finding::NoSuchTool(_) if is_function(site) => return None,
        Finding::NoSuchTool(is_certain) => {
            let unknown = globals::unknown_tool(number, &site.tool)?;
            missing = Some(unknown.missing);
            (format!("TypeError: {}", unknown.message), Some(unknown.hint), is_certain)
        }
        Finding::Objection(Objection { message, hint, denied, certain }) => {
            let class = if denied { "PolicyError" } else { "TypeError" };
            (format!("{class}: {message}"), hint, certain)
        }
    };
    Some((Fault { position: site.position, message, hint, missing }, is_certain))
}

fn refusal(mut faults: Vec<Fault>, source: &str) -> Option<Failure> {
    faults.sort_by_key(|fault| (fault.position.line, fault.position.column));
    let mut faults = faults.into_iter().take(MAX_FAULTS);
    let Fault { position: first, mut message, hint, missing } = faults.next()?;
    for Fault { position, message: other, hint, .. } in faults {
        let line = source.lines().nth(position.line.saturating_sub(1) as usize).unwrap_or_default();
        let line: String = line.trim().chars().take(MAX_LINE).collect();
        let (at, column) = (position.line, position.column);
        // Writing to a String cannot fail.
        let _ = write!(message, "\nalso at line {at}, column {column}: {other}\n> {at} | {line}");
        if let Some(hint) = hint {
            let _ = write!(message, "\nhint: {hint}");
        }
    }
    Some(Failure {
        line: Some(first.line),
        column: Some(first.column),
        hint: hint.filter(|hint| failure::is_of_this_run(hint)),
        missing,
        ..failure::plain(FailureKind::Plan, &message)
    })
}

/// The calls as JSON, in the form of `catalog.plan`. What is behind the last that has room is left
/// out.
fn question(sites: &Sites, known: &[&Site], numbers: &[u32]) -> String {
    let mut text = String::from("{\"calls\":[");
    let mut left_out = sites.more;
    for (at, (site, number)) in known.iter().zip(numbers).enumerate() {
        let call = call(site, *number);
        if text.len() + call.len() > MAX_QUESTION - 100 {
            left_out += known.len() - at;
            break;
        }
        if at > 0 {
            text.push(',');
        }
        text.push_str(&call);
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "],\"more\":{left_out},\"others\":{}}}", sites.has_others);
    text
}

fn call(site: &Site, number: u32) -> String {
    let mut text = format!("{{\"server\":{number},\"tool\":");
    let function = if is_function(site) { globals::tool_of_function(&site.tool) } else { None };
    write_text(function.as_ref().map_or(site.tool.as_str(), |(_, property)| property), &mut text);
    let reach = match site.reach {
        Reach::Certain => "certain",
        Reach::Possible => "possible",
        Reach::Guarded => "guarded",
    };
    let Position { line, column } = site.position;
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        ",\"reach\":\"{reach}\",\"fatal\":{},\"loop\":{},\"line\":{line},\"column\":{column}",
        site.is_fatal, site.in_loop
    );
    let by_name = site.arguments.as_ref().filter(|_| !globals::is_positional(number));
    if let Some(Known { json, unknown, texts, open }) = by_name {
        let _ = write!(text, ",\"arguments\":{{\"value\":{json}");
        for (name, places) in [("unknown", unknown), ("texts", texts), ("open", open)] {
            let _ = write!(text, ",\"{name}\":[");
            for (at, place) in places.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_text(place, &mut text);
            }
            text.push(']');
        }
        text.push('}');
    }
    text.push('}');
    text
}
