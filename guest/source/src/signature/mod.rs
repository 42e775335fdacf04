//! What a script with a name takes, read from its source: a comment that says what it does, and the
//! TypeScript type of the one parameter of its default export, as a JSON Schema.
//!
//! - `comments.rs`: what comments say of a place.
//! - `types.rs`: from types to schemas.
//! - `wrapped.rs`: any other script as one with a name.
//!
//! Nothing is guessed: a type that has no schema is refused, with its place.

mod comments;
mod types;
mod wrapped;

use std::collections::BTreeSet;

use oxc::{
    allocator::Allocator,
    ast::ast::{
        BindingPattern, ExportDefaultDeclaration, ExportDefaultDeclarationKind, Expression, FormalParameters, Program,
        Statement, TSType, TSTypeAnnotation,
    },
    parser::Parser,
    span::{GetSpan, SourceType},
};

use super::{Globals, Kind, Position, SyntaxFault, options, translate_as};
use comments::Comments;
use types::{Types, Unsupported};

/// The namespace in which scripts with names are.
const SKILLS: &str = "skills";

/// What a script with a name says of itself.
pub struct Signature {
    /// What it does, by its comment.
    pub description: String,
    pub schema: Schema,
    /// The JSON Schema of its value, where its type is declared and has one.
    pub result: Option<String>,
    /// The scripts with names that it calls, as they stand in its source.
    pub calls: BTreeSet<String>,
}

/// The schema of its arguments.
pub enum Schema {
    /// Derived from a type: JSON.
    Derived(String),
    /// The text behind `@schema`, which nobody has read yet.
    Written(String),
}

/// What a source is.
pub struct Named {
    /// The source as that of a script with a name: without fences, and where it exports no
    /// function, as one that does.
    pub text: String,
    /// What it says of itself, if it was one already.
    pub signature: Option<Signature>,
}

/// What a script with a name says of itself.
///
/// # Errors
/// It cannot be run, or takes what has no schema.
pub fn signature(text: &str) -> Result<Named, SyntaxFault> {
    let globals = Globals { is_server: &|name| name == SKILLS, ..Globals::NONE };
    let translated = translate_as(text, &globals, Kind::Named)?;
    // Without what stands around it, such as a fence.
    let source = translated.origin.source().to_owned();
    let calls = translated.calls.all.into_iter().filter(|site| site.server == SKILLS).map(|site| site.tool).collect();
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &source, SourceType::ts().with_module(true)).with_options(options()).parse();
    let program = parsed.program;
    let Some((export, function)) =
        default_export(&program).and_then(|export| Some((export, Function::of(export, &program)?)))
    else {
        return Ok(Named { text: wrapped::wrapped(&source, &program), signature: None });
    };
    let comments = Comments::of(&source, &program);
    let said = comments.of_statement(export.span.start);
    let types = Types::of(&program, &comments);
    let schema = match said.schema {
        Some(written) => Schema::Written(written),
        None => Schema::Derived(function.schema(&types).map_err(|unsupported| {
            let Unsupported { offset, what } = unsupported;
            let hint = "use strings, numbers, booleans, null, literals, arrays, objects, Record<string, T> and types \
                        that are declared in this file; or give the schema in a comment: @schema {\"type\": \"object\"}";
            fault(&source, Some(offset), &what, hint)
        })?),
    };
    let result = function.result.and_then(|declared| types.of_result(&declared.type_annotation).ok());
    let signature = Signature { description: said.text, schema, result, calls };
    Ok(Named { text: wrapped::plain(&source, &program), signature: Some(signature) })
}

fn fault(source: &str, offset: Option<u32>, message: &str, hint: &str) -> SyntaxFault {
    SyntaxFault {
        message: format!("SyntaxError: {message}"),
        position: offset.map(|offset| Position::of_offset(source, offset as usize)),
        hint: Some(hint.to_owned()),
    }
}

fn default_export<'p, 'a>(program: &'p Program<'a>) -> Option<&'p ExportDefaultDeclaration<'a>> {
    program.body.iter().find_map(|statement| match statement {
        Statement::ExportDefaultDeclaration(export) => Some(&**export),
        _ => None,
    })
}

/// The function that is the default export.
struct Function<'p, 'a> {
    parameters: &'p FormalParameters<'a>,
    result: Option<&'p TSTypeAnnotation<'a>>,
}

impl<'p, 'a> Function<'p, 'a> {
    fn of(export: &'p ExportDefaultDeclaration<'a>, program: &'p Program<'a>) -> Option<Self> {
        match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => Self::of_function(function),
            other => match other.as_expression()?.get_inner_expression() {
                Expression::Identifier(name) => Self::declared(name.name.as_str(), program),
                expression => Self::of_expression(expression),
            },
        }
    }

    fn of_expression(expression: &'p Expression<'a>) -> Option<Self> {
        match expression.get_inner_expression() {
            Expression::ArrowFunctionExpression(function) => {
                Some(Self { parameters: &function.params, result: function.return_type.as_deref() })
            }
            Expression::FunctionExpression(function) => Self::of_function(function),
            _ => None,
        }
    }

    fn of_function(function: &'p oxc::ast::ast::Function<'a>) -> Option<Self> {
        let result = function.return_type.as_deref();
        (!function.generator).then(|| Self { parameters: &function.params, result })
    }

    /// The function that is declared under this name at the top level.
    fn declared(wanted: &str, program: &'p Program<'a>) -> Option<Self> {
        program.body.iter().find_map(|statement| match statement {
            Statement::FunctionDeclaration(function) => {
                let is_it = function.id.as_ref().is_some_and(|id| id.name.as_str() == wanted);
                is_it.then(|| Self::of_function(function)).flatten()
            }
            Statement::VariableDeclaration(variables) => variables.declarations.iter().find_map(|variable| {
                let BindingPattern::BindingIdentifier(id) = &variable.id else { return None };
                let value = variable.init.as_ref().filter(|_| id.name.as_str() == wanted)?;
                Self::of_expression(value)
            }),
            _ => None,
        })
    }

    /// The schema of its one parameter.
    fn schema(&self, types: &Types<'p, 'a>) -> Result<String, Unsupported> {
        if let Some(rest) = &self.parameters.rest {
            let what = "a script with a name takes one object, and no rest parameter".to_owned();
            return Err(Unsupported { offset: rest.span.start, what });
        }
        let parameter = match self.parameters.items.as_slice() {
            [] => return Ok(types::NO_ARGUMENTS.to_owned()),
            [only] => only,
            [_, second, ..] => {
                let what = "a script with a name takes one object, and no second parameter".to_owned();
                return Err(Unsupported { offset: second.span.start, what });
            }
        };
        let Some(declared) = &parameter.type_annotation else {
            let what = "the parameter has no type".to_owned();
            return Err(Unsupported { offset: parameter.span.start, what });
        };
        types.of_arguments(&declared.type_annotation)
    }
}

/// The start of a type in the source.
fn start(of: &TSType<'_>) -> u32 {
    of.span().start
}
