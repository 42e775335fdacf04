//! A tool as the author of a script sees it: a TypeScript declaration, or a signature on one line.
//!
//! ```ts
//! declare namespace fs {
//!   /**
//!    * Read the complete contents of a file. (read_only)
//!    * Example: await fs.read_file({ path: "..." })
//!    */
//!   function read_file(args: { path: string; head?: number }): Promise<{ content: string }>;
//! }
//! ```
//!
//! A declaration is valid strict TypeScript by itself and together with all others: namespaces of
//! one name merge, and the types that a tool needs by name (`read_file_Entry`) contain the tool's
//! name. A tool whose name is not an identifier is declared under its alias, and the comment gives
//! its exact name. A result that the server does not describe is `unknown`: `any` would promise too
//! much.

use belljar_model::ToolDefinition;

use crate::{
    bounds::{DECLARATION_BYTES, DESCRIPTION_CHARS, DESCRIPTION_LINES},
    names::Names,
    observed::Observed,
    schema::{Printer, Reader, Room, Shape, Type, Types},
    text::{comment, comment_lines, quoted},
};

/// The longest comment on one line.
const COMMENT_LINE_CHARS: usize = 100;

/// The function's parameter list and result.
struct Function {
    types: Types,
    arguments: Arguments,
    result: Type,
}

/// What a tool is called with.
enum Arguments {
    None,
    Optional(Type),
    Required(Type),
}

impl Function {
    fn read(definition: &ToolDefinition) -> Self {
        let mut reader = Reader::new();
        let arguments = reader.document("Args", &definition.input_schema);
        let result =
            definition.output_schema.as_ref().map_or(Type::Unknown, |schema| reader.document("Result", schema));
        let types = reader.finish(&[&arguments, &result]);
        let body = match &arguments {
            Type::Named(name) => types.aliases.get(*name).map(|alias| &alias.body),
            _ => None,
        };
        let says_none = definition.input_schema.get("properties").is_some();
        let arguments = match body {
            Some(&Type::ANY_OBJECT) if says_none => Arguments::None,
            Some(&Type::EMPTY_OBJECT) => Arguments::None,
            Some(&Type::ANY_OBJECT | &Type::Unknown) | None => Arguments::Optional(Type::ANY_OBJECT),
            Some(Type::Object(shape)) if is_optional(shape) => Arguments::Optional(arguments),
            Some(_) => Arguments::Required(arguments),
        };
        Self { types, arguments, result }
    }

    fn parameters(&self, prefix: &str, room: Room, indent: usize) -> String {
        let printed = |kind: &Type| printed(&self.types, prefix, room, kind, indent);
        match &self.arguments {
            Arguments::None => "()".to_owned(),
            Arguments::Optional(kind) => format!("(args?: {})", printed(kind)),
            Arguments::Required(kind) => format!("(args: {})", printed(kind)),
        }
    }
}

fn is_optional(shape: &Shape) -> bool {
    shape.omitted == 0 && shape.members.iter().all(|member| member.optional)
}

fn printed(types: &Types, prefix: &str, room: Room, kind: &Type, indent: usize) -> String {
    let mut printer = Printer::new(types, prefix, room);
    printer.kind(kind, indent);
    printer.into_text()
}

/// The signature on one line: `fs.read_file(args: { path: string }): Promise<unknown>`. Members
/// that do not fit are counted, and types that do not fit are `unknown`. If an observed result is
/// given, the signature shows it and says so.
pub(crate) fn signature(
    namespace: &str,
    tool: &str,
    definition: &ToolDefinition,
    observed: Option<&Observed>,
) -> String {
    let mut function = Function::read(definition);
    let remark = match observed {
        Some(observed) => {
            function.result = observed.kind();
            observed.short_remark()
        }
        None => said_of_json(definition, &function),
    };
    let parameters = function.parameters("", Room::Signature, 0);
    let result = printed(&function.types, "", Room::Signature, &function.result, 0);
    format!("{namespace}.{tool}{parameters}: Promise<{result}{remark}>")
}

/// Follows a declared text that is JSON and is returned unparsed.
const JSON_TEXT: &str = " /* JSON text */";
/// Follows a result that is not declared.
const JSON: &str = " /* JSON, parsed */";

/// The comment on the result if the description says that it is JSON, and the declared result is a
/// text or nothing is declared.
fn said_of_json(definition: &ToolDefinition, function: &Function) -> &'static str {
    let said = definition.description.as_deref().unwrap_or_default();
    let gives_json = GIVES_JSON.iter().any(|words| said.contains(words));
    let is_text = || match resolved(&function.types, &function.result) {
        Type::Object(shape) => {
            shape.others.is_none() && matches!(&shape.members[..], [member] if member.kind == Type::STRING)
        }
        kind => *kind == Type::STRING,
    };
    match () {
        () if !gives_json => "",
        () if definition.output_schema.is_none() => JSON,
        () if is_text() => JSON_TEXT,
        () => "",
    }
}

/// Phrases with which a description says that a result is JSON.
const GIVES_JSON: [&str; 8] = [
    "as JSON",
    "as a JSON",
    "in JSON",
    "a JSON object",
    "a JSON array",
    "a JSON structure",
    "JSON text",
    "JSON string",
];

fn resolved<'t>(types: &'t Types, kind: &'t Type) -> &'t Type {
    match kind {
        Type::Named(name) => types.aliases.get(*name).map_or(kind, |alias| &alias.body),
        kind => kind,
    }
}

/// The whole declaration. `effect` is shown in brackets after the description. The result is the
/// observed one, if given.
pub(crate) fn declaration(
    namespace: &Names,
    tool: &Names,
    definition: &ToolDefinition,
    effect: &str,
    observed: Option<&Observed>,
) -> String {
    let mut function = Function::read(definition);
    if let Some(observed) = observed {
        function.result = observed.kind();
    }
    let alias = tool.alias();
    let prefix = format!("{alias}_");
    let mut text = format!("declare namespace {} {{\n", namespace.alias());
    let parameters = function.parameters(&prefix, Room::Block, 1);
    let result = printed(&function.types, &prefix, Room::Block, &function.result, 1);
    for named in needed(&function) {
        let Some(named) = function.types.aliases.get(named) else { continue };
        // Each type has its own budget, and all of them together have one.
        let full = text.len() + parameters.len() + result.len() >= DECLARATION_BYTES;
        if full {
            text.push_str(&format!("  type {prefix}{} = unknown;\n", named.name));
            continue;
        }
        if !named.comment.is_empty() {
            text.push_str(&format!("  /** {} */\n", comment(&named.comment)));
        }
        let body = printed(&function.types, &prefix, Room::Block, &named.body, 1);
        text.push_str(&format!("  type {prefix}{} = {body};\n", named.name));
    }
    let example = example::example(namespace.alias(), alias, &function);
    let remark = match observed {
        Some(observed) => Some(observed.remark()),
        None => match said_of_json(definition, &function) {
            JSON_TEXT => Some("Its text is JSON, by its description: use JSON.parse.".to_owned()),
            JSON => Some("Its text is JSON, by its description, and comes parsed.".to_owned()),
            _ => None,
        },
    };
    text.push_str(&described(tool, definition, effect, &[remark, example]));
    text.push_str(&format!("  function {alias}{parameters}: Promise<{result}>;\n}}"));
    text
}

/// The types that the function needs by name, in the order in which the schemas named them.
fn needed(function: &Function) -> Vec<usize> {
    let mut needed = vec![false; function.types.aliases.len()];
    let mut waiting = vec![&function.result];
    if let Arguments::Optional(kind) | Arguments::Required(kind) = &function.arguments {
        waiting.push(kind);
    }
    while let Some(kind) = waiting.pop() {
        for name in kind.names() {
            if let Some(seen @ false) = needed.get_mut(name) {
                *seen = true;
                waiting.extend(function.types.aliases.get(name).map(|alias| &alias.body));
            }
        }
    }
    let printed = |name: &usize| {
        let named = function.types.aliases.get(*name).is_some_and(|alias| !alias.inline);
        named && needed.get(*name).copied().unwrap_or(false)
    };
    (0..function.types.aliases.len()).filter(printed).collect()
}

/// The comment on the function: its description, its effect, its exact name if that differs from
/// the alias, and further lines.
fn described(tool: &Names, definition: &ToolDefinition, effect: &str, more: &[Option<String>]) -> String {
    let said = definition.description.as_deref().or(definition.title.as_deref()).unwrap_or_default();
    let lines = comment_lines(said, DESCRIPTION_CHARS, DESCRIPTION_LINES);
    let remark = if tool.exact() == tool.alias() {
        format!("({effect})")
    } else {
        format!("({effect}; exact name {})", comment(&quoted(tool.exact())))
    };
    let mut all = match lines.as_slice() {
        [] => vec![remark],
        [line] if line.chars().count() <= COMMENT_LINE_CHARS => vec![format!("{line} {remark}")],
        lines => lines.iter().cloned().chain([remark]).collect(),
    };
    // A line that has to be altered to fit into a comment would no longer be a correct example.
    all.extend(more.iter().flatten().filter(|line| comment(line) == **line).cloned());
    match all.as_slice() {
        [line] => format!("  /** {line} */\n"),
        lines => {
            let lines: String = lines.iter().map(|line| format!("   * {line}\n")).collect();
            format!("  /**\n{lines}   */\n")
        }
    }
}

mod example;
#[cfg(test)]
mod tests;
