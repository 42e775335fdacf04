//! From what an author wrote to what the engine runs: TypeScript and the forms that models like to
//! write become one async function, with a map that leads every position back.
//!
//! The rule, in order:
//! 1. If the text begins with a Markdown code fence, or is no program but holds one, the first
//!    fenced block is the program.
//! 2. TypeScript is translated; its types are dropped.
//! 3. `export default X` counts as a last statement `X`; a function that the program does not use
//!    itself is called.
//! 4. If the last statement is an expression, its value is the value of the run; functions that are
//!    declared after it do not count. If a function is the only statement, it is called without
//!    arguments, and what it returns is the value.
//! 5. All of it is the body of an async function: `await` and `return` work at the top level.
//! 6. It is in strict mode, as a module is.

mod advice;
mod endless;
mod entry;
mod fence;
mod merged;
mod parsed;
mod plan;
mod positions;
mod provenance;
mod reading;
mod reads;
mod refuse;
mod scopes;
mod shape;
mod signature;
mod slips;
mod types;
mod unawaited;
mod visitor;

use std::{borrow::Cow, cell::RefCell, collections::BTreeSet, path::PathBuf};

use oxc::{
    allocator::Allocator,
    ast::ast::Program,
    codegen::{Codegen, CodegenOptions, CommentOptions},
    diagnostics::OxcDiagnostic,
    parser::{ParseOptions, Parser},
    semantic::{Scoping, SemanticBuilder},
    span::SourceType,
    transformer::{HelperLoaderMode, TransformOptions, Transformer},
};

use entry::DefaultExport;
pub use parsed::{call_behind, hint as hint_for_parsing};
pub use plan::{Known, Reach, Site, Sites, Stranger, write_text};
pub use positions::{Origin, Position, nearest, nearest_in, original, original_in};
pub use provenance::{Provenance, Step, provenance};
pub use reading::{declared_at, declared_names, reads_whole_result, thrown_value};
pub use reads::{Read, Way, arguments_at, pattern_at, reads, way};
pub use scopes::{is_assigned, out_of_scope};
use shape::Shaped;
pub use signature::{Named, Schema, Signature, signature};
pub use slips::{async_for_each, for_in_slips, nothing_in};
pub use unawaited::{hint as hint_for_promise, warning as warning_of_promise};

/// What a source is read as first.
const TYPESCRIPT: SourceType = SourceType::ts().with_module(true);
/// The name of the author's source in stacks.
pub const SCRIPT_NAME: &str = "script";

/// What the engine calls the function that a program becomes.
pub const MAIN: &str = "__main__";

/// What goes before the translated program, the parameters in between; it ends its line, so that
/// only lines shift.
const OPENING: &str = "(async function __main__(";
const BODY: &str = ") {\n";
const CLOSING: &str = "\n})";

/// Where the translation of `using` looks for its helpers, which `using.rs` of `globals` has.
const USING: &str = "babelHelpers";

/// A program that the engine can evaluate: to an async function.
pub struct Translated {
    pub code: String,
    pub origin: Origin,
    /// Whether the function takes the helpers of `using`. Most programs do not name them, and a
    /// parameter costs more than it seems.
    pub has_using: bool,
    /// A function at the top level that nothing calls.
    pub unused: Option<String>,
    /// Where it calls tools.
    pub calls: Sites,
}

/// What the globals of a run are to a program.
#[derive(Clone, Copy)]
pub struct Globals<'g> {
    /// Those whose methods are tools.
    pub is_server: &'g dyn Fn(&str) -> bool,
    /// The functions that are tools.
    pub is_function: &'g dyn Fn(&str) -> bool,
    /// Whether `tools` is belljar's own.
    pub has_tools: bool,
    /// Whether a host has run something before, which may have changed what these are.
    pub may_differ: bool,
}

impl Globals<'_> {
    /// No servers and no functions.
    pub const NONE: Globals<'static> =
        Globals { is_server: &|_| false, is_function: &|_| false, has_tools: true, may_differ: false };
}

thread_local! {
    static TOOL_FUNCTIONS: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Keeps the names of the global functions that are tools, for what is said of a failed script.
pub fn keep_tool_functions(names: BTreeSet<String>) {
    TOOL_FUNCTIONS.set(names);
}

fn tool_functions() -> BTreeSet<String> {
    TOOL_FUNCTIONS.with_borrow(Clone::clone)
}

/// Why a source cannot be run.
pub struct SyntaxFault {
    pub message: String,
    pub position: Option<Position>,
    pub hint: Option<String>,
}

/// What becomes of a program's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is run once: a function that nothing calls is called.
    Script,
    /// Its default export is a function that others call: it is the value itself.
    Named,
}

/// Translates `text`, or says where it is wrong.
pub fn translate(text: &str, globals: &Globals<'_>) -> Result<Translated, SyntaxFault> {
    translate_as(text, globals, Kind::Script)
}

/// The same for a script with a name: the value of the program is its default export, which is not
/// called.
pub fn translate_named(text: &str, globals: &Globals<'_>) -> Result<Translated, SyntaxFault> {
    translate_as(text, globals, Kind::Named)
}

/// To the language, a carriage return ends a line too, with a line feed or alone. Everything here
/// counts line feeds.
fn even_lines(text: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        None => Cow::Borrowed(text),
    }
}

fn translate_as(text: &str, globals: &Globals<'_>, kind: Kind) -> Result<Translated, SyntaxFault> {
    let lines_end_alike = even_lines(text);
    let source = fence::unfenced(&lines_end_alike);
    let fault = match program(&source, globals, kind) {
        Err(fault) => fault,
        translated => return translated,
    };
    // Prose around the program? Then what is wrong before the fence is of no interest.
    let Some((block, fence)) = fence::block(&source) else { return Err(fault) };
    program(&block, globals, kind).map_err(|inner| match fault.position {
        Some(position) if position.line > fence => fault,
        _ => inner,
    })
}

fn program(source: &str, globals: &Globals<'_>, kind: Kind) -> Result<Translated, SyntaxFault> {
    let allocator = Allocator::default();
    let (mut program, scoping) = match checked(&allocator, source) {
        Ok(checked) => checked,
        Err(fault) => as_javascript(&allocator, source).unwrap_or(Err(fault))?,
    };
    // The line in which a file says what runs it is one for the system alone.
    program.hashbang = None;

    let mut entry = entry::of(&program, &scoping);
    if kind == Kind::Named {
        entry.default = DefaultExport::Value;
    }
    refuse::changing_exports(source, &program, &scoping)?;
    merged::parts(source, &program, &scoping)?;
    unawaited::refuse(source, &program, &scoping, globals)?;
    let calls = plan::sites(source, &program, &scoping, globals);
    let mut transform = TransformOptions::default();
    if memchr::memmem::find(source.as_bytes(), b"using").is_some() {
        // The engine reads `using`, and disposes of nothing.
        transform.env.es2026.explicit_resource_management = true;
        transform.helper_loader.mode = HelperLoaderMode::External;
    }
    let transformed =
        Transformer::new(&allocator, SCRIPT_NAME.as_ref(), &transform).build_with_scoping(scoping, &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(fault(source, error));
    }
    let unused = match shape::return_last_value(&allocator, &mut program, entry.default, kind) {
        Shaped::Called => None,
        Shaped::AsItIs => entry.unused,
    };
    endless::place(&allocator, &mut program);

    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(PathBuf::from(SCRIPT_NAME)),
            comments: CommentOptions::disabled(),
            ..CodegenOptions::default()
        })
        .with_source_text(source)
        .build(&program);
    let has_using = memchr::memmem::find(printed.code.as_bytes(), USING.as_bytes()).is_some();
    let code = [OPENING, if has_using { USING } else { "" }, BODY, &printed.code, CLOSING].concat();
    let shifted_lines = u32::try_from(BODY.matches('\n').count()).unwrap_or(0);
    Ok(Translated { code, origin: Origin::new(printed.map.as_ref(), shifted_lines, source), has_using, unused, calls })
}

/// A program that nothing refuses before it runs: not the rules of TypeScript, and not the jar.
fn checked<'a>(allocator: &'a Allocator, source: &'a str) -> Result<(Program<'a>, Scoping), SyntaxFault> {
    let parsed = Parser::new(allocator, source, TYPESCRIPT).with_options(options()).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(refuse::jsx(source).unwrap_or_else(|| fault(source, error)));
    }
    unrefused(source, parsed.program)
}

/// What TypeScript refuses may be JavaScript: a function with the name of a parameter, say. A
/// source that has types is not, nor is one that nobody can read.
fn as_javascript<'a>(allocator: &'a Allocator, source: &'a str) -> Option<Result<(Program<'a>, Scoping), SyntaxFault>> {
    let typed = Parser::new(allocator, source, TYPESCRIPT).with_options(options()).parse();
    if types::are_in(&typed.program) {
        return None;
    }
    let parsed = Parser::new(allocator, source, SourceType::mjs()).with_options(options()).parse();
    parsed.diagnostics.errors().next().is_none().then(|| unrefused(source, parsed.program))
}

fn unrefused<'a>(source: &str, program: Program<'a>) -> Result<(Program<'a>, Scoping), SyntaxFault> {
    refuse::modules(source, &program)?;
    refuse::decorators(source, &program)?;
    refuse::accessors(source, &program)?;
    let checked = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    if let Some(error) = checked.diagnostics.errors().next() {
        return Err(fault(source, error));
    }
    let scoping = checked.semantic.into_scoping();
    Ok((program, scoping))
}

fn options() -> ParseOptions {
    ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() }
}

/// The engine refused the translated code: what is wrong, at the author's place.
pub fn fault_of_engine(message: &str) -> SyntaxFault {
    // Boa says the place in its message, as in "… at line 2, col 11".
    let (what, place) = message.rsplit_once(" at line ").unwrap_or((message, ""));
    let place = place.split_once(", col ").and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    SyntaxFault {
        message: format!("SyntaxError: {}", what.trim_start_matches("SyntaxError: ")),
        position: place.and_then(|(line, column)| original(line, column)),
        hint: None,
    }
}

fn fault(source: &str, error: &OxcDiagnostic) -> SyntaxFault {
    // Where there are several places, as of two declarations of one name, the last is the one to
    // change.
    let offset = error.labels.iter().map(|label| label.offset() as usize).max();
    // One past the end is shown at the end of the last line that holds something.
    let end = source.trim_end().len();
    let position = offset.map(|offset| Position::of_offset(source, offset.min(end)));
    SyntaxFault {
        hint: advice::hint(source, &error.message, position)
            .or_else(|| error.help.as_ref().map(|help| help.to_string())),
        message: format!("SyntaxError: {}", error.message),
        position,
    }
}
