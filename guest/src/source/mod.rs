//! From what an author wrote to what the engine runs: TypeScript and the forms that models like to write become one async
//! function, with a map that leads every position back.
//!
//! The rule, in order:
//! 1. If the text holds a Markdown code fence, the first fenced block is the program.
//! 2. TypeScript is translated; its types are dropped.
//! 3. `export default X` counts as a last statement `X`.
//! 4. If the last statement is an expression, its value is the value of the run. If it is the only statement and it is a
//!    function, that function is called without arguments, and what it returns is the value.
//! 5. All of it is the body of an async function: `await` and `return` work at the top level.

mod fence;
mod positions;
mod shape;

use std::path::PathBuf;

use oxc::{
    allocator::Allocator,
    codegen::{Codegen, CodegenOptions, CommentOptions},
    diagnostics::OxcDiagnostic,
    parser::{ParseOptions, Parser},
    semantic::SemanticBuilder,
    span::SourceType,
    transformer::{TransformOptions, Transformer},
};

pub(crate) use positions::{Origin, Position};

/// The name of the author's source in stacks.
pub(crate) const SCRIPT_NAME: &str = "script";

/// What goes before the translated program; it ends its line, so that only lines shift.
const OPENING: &str = "(async function () {\n";
const CLOSING: &str = "\n})";

/// A program that the engine can evaluate: to an async function of no parameters.
pub(crate) struct Translated {
    pub(crate) code: String,
    pub(crate) origin: Origin,
}

/// Why a source cannot be run.
pub(crate) struct SyntaxFault {
    pub(crate) message: String,
    pub(crate) position: Option<Position>,
    pub(crate) hint: Option<String>,
}

/// Translates `source`, or says where it is wrong.
pub(crate) fn translate(source: &str) -> Result<Translated, SyntaxFault> {
    let source = fence::unfenced(source);
    let source = source.as_ref();
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true)).with_options(options).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(fault(source, error));
    }
    let mut program = parsed.program;
    shape::refuse_modules(source, &program)?;

    let checked = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    if let Some(error) = checked.diagnostics.errors().next() {
        return Err(fault(source, error));
    }
    let scoping = checked.semantic.into_scoping();
    let transform = TransformOptions::default();
    let transformed =
        Transformer::new(&allocator, SCRIPT_NAME.as_ref(), &transform).build_with_scoping(scoping, &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(fault(source, error));
    }
    shape::return_last_value(&allocator, &mut program);

    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(PathBuf::from(SCRIPT_NAME)),
            comments: CommentOptions::disabled(),
            ..CodegenOptions::default()
        })
        .with_source_text(source)
        .build(&program);
    let mut code = String::with_capacity(OPENING.len() + printed.code.len() + CLOSING.len());
    code.push_str(OPENING);
    code.push_str(&printed.code);
    code.push_str(CLOSING);
    let shifted_lines = u32::try_from(OPENING.matches('\n').count()).unwrap_or(0);
    Ok(Translated { code, origin: Origin::new(printed.map.as_ref(), shifted_lines) })
}

fn fault(source: &str, error: &OxcDiagnostic) -> SyntaxFault {
    let position = error.labels.iter().next().map(|label| Position::of_offset(source, label.offset() as usize));
    SyntaxFault {
        message: format!("SyntaxError: {}", error.message),
        position,
        hint: error.help.as_ref().map(|help| help.to_string()),
    }
}
