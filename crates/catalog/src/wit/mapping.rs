//! One server's tools with their names in WIT.

use std::collections::{HashMap, HashSet};

use belljar_model::ToolPath;

use super::{
    docs::{doc_line, doc_lines},
    form::{Definition, Form, Payload, named, says_json},
    lower::{Lowered, lower, untyped},
    names::{Claims, assign_lasting, ends_in_mark, mark},
};
use crate::{
    bounds::{DESCRIPTION_CHARS, DESCRIPTION_LINES, SHOWN_NAME_CHARS, WIT_PACKAGE_SIZE},
    server::ServerCatalog,
    tool::Tool,
};

/// The types of every package, whose names no function or other type may have.
pub(super) const JSON: &str = "json";
pub(super) const TOOL_ERROR: &str = "tool-error";
/// The suffix of a type's name that would otherwise seem to end in a mark.
const TYPE: &str = "-type";

/// How the tools of one server cross, and under which names.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    package: String,
    functions: Vec<Function>,
    definitions: Vec<Definition>,
    by_name: HashMap<String, usize>,
    /// If two functions have the same mark, it means neither.
    by_mark: HashMap<String, Option<usize>>,
}

/// One tool as a function.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Function {
    /// Its name in WIT, without the `%` of keywords.
    pub name: String,
    /// The name of its error's type: its own name and its mark, which binds components to its tool.
    pub error: String,
    /// The tool that it calls.
    pub path: ToolPath,
    /// Its arguments: always a JSON object.
    pub arguments: Payload,
    /// Its result. If its server declares none, the value that a script would get.
    pub result: Payload,
    /// Its description, ready for a comment.
    pub docs: String,
    /// The line of the comment that is always kept.
    pub(super) call: String,
}

impl Mapping {
    /// The mapping of a server, under the name that [`packages`](super::packages) gives it.
    ///
    /// It depends on the server's tool list only, and not on its order. A narrowed package has the
    /// names and types of the whole one.
    pub fn new(package: &str, server: &ServerCatalog) -> Self {
        // A tool that a run could not find is not offered to build with.
        let tools: Vec<&Tool> = server.tools().iter().filter(|tool| tool.path().is_importable()).collect();
        let exact: Vec<&str> = tools.iter().map(|tool| tool.names().exact()).collect();
        let names = assign_lasting(&exact, &[JSON, TOOL_ERROR]);
        let mut claims = Claims::new([JSON, TOOL_ERROR].into_iter(), &names);
        let names: Vec<String> = names.iter().map(|name| claims.claim(name)).collect();
        let mut mapping = Self {
            package: package.to_owned(),
            functions: Vec::new(),
            definitions: Vec::new(),
            by_name: HashMap::new(),
            by_mark: HashMap::new(),
        };
        // No other name ends in a mark, so these names are free.
        let error = |(tool, name): (&&Tool, &String)| format!("{name}-{}", mark(tool.path()));
        let errors: Vec<String> = tools.iter().zip(&names).map(error).collect();
        let mut left = WIT_PACKAGE_SIZE;
        for (tool, name) in tools.into_iter().zip(names.into_iter().zip(errors)) {
            let mut lowered = lower(tool.definition());
            match left.checked_sub(lowered.size) {
                Some(rest) => left = rest,
                None => lowered = untyped(tool.definition()),
            }
            mapping.add(tool, name, lowered, &mut claims);
        }
        mapping
    }

    fn add(&mut self, tool: &Tool, (name, error): (String, String), lowered: Lowered, claims: &mut Claims<'_>) {
        let Lowered { mut arguments, result, definitions, .. } = lowered;
        let is_declared = result.is_some();
        let mut result = result.unwrap_or(Payload::JSON);
        let first = self.definitions.len();
        let place = |at: usize| first + at;
        for mut definition in definitions {
            let hint = if definition.name.is_empty() { "unnamed" } else { &definition.name };
            let mut wanted = format!("{name}-{hint}");
            if ends_in_mark(&wanted) {
                wanted.push_str(TYPE);
            }
            definition.name = claims.claim(&wanted);
            definition.kind.renumber(&place);
            self.definitions.push(definition);
        }
        for payload in [&mut arguments, &mut result] {
            if let Payload::Form(form) = payload {
                form.renumbered(&place);
            }
        }
        let call = doc_line(&format!("Calls {} ({}).", tool.path(), tool.effect()), 4 * SHOWN_NAME_CHARS);
        let mut lines = described(tool);
        lines.push(call.clone());
        lines.extend(self.untyped_arguments(&arguments).map(str::to_owned));
        lines.extend(self.untyped_result(&result, is_declared).map(str::to_owned));
        let at = self.functions.len();
        self.by_name.insert(name.clone(), at);
        self.by_mark.entry(mark(tool.path())).and_modify(|found| *found = None).or_insert(Some(at));
        let docs = lines.join("\n");
        self.functions.push(Function { name, error, path: tool.path().clone(), arguments, result, docs, call });
    }

    /// The name of its package, without `belljar:` and the version.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// Its functions, in the order in which the server lists its tools. A tool that
    /// [cannot be imported](ToolPath::is_importable) has none.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function that has this name today.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.get(*self.by_name.get(name)?)
    }

    /// The position of the function of the tool with a [`mark`](super::mark()).
    pub fn position(&self, mark: &str) -> Option<usize> {
        self.by_mark.get(mark).copied().flatten()
    }

    /// The named types, none of them recursive.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Whether no part of the values is JSON text.
    pub fn is_typed(&self, payload: &Payload) -> bool {
        let json = |form: &Form| says_json(form);
        !payload.form().is_some_and(json) && !self.reached(payload.form()).iter().any(|at| self.holds_json(*at))
    }

    /// The indices of the named types that these need, in order.
    pub(super) fn reached<'f>(&self, forms: impl IntoIterator<Item = &'f Form>) -> Vec<usize> {
        let mut waiting = Vec::new();
        forms.into_iter().for_each(|form| named(form, &mut waiting));
        let mut reached = HashSet::new();
        while let Some(at) = waiting.pop() {
            if let Some(definition) = self.definitions.get(at).filter(|_| reached.insert(at)) {
                definition.kind.forms().into_iter().for_each(|form| named(form, &mut waiting));
            }
        }
        let mut reached: Vec<usize> = reached.into_iter().collect();
        reached.sort_unstable();
        reached
    }

    /// Whether a named type itself has JSON text.
    pub(super) fn holds_json(&self, at: usize) -> bool {
        self.definitions.get(at).is_some_and(|definition| definition.kind.forms().into_iter().any(says_json))
    }

    fn untyped_arguments(&self, arguments: &Payload) -> Option<&'static str> {
        match arguments {
            Payload::Form(Form::Json) => Some("Its arguments cross as the text of a JSON object."),
            typed if self.is_typed(typed) => None,
            _ => Some("Of its arguments, what has the type json crosses as JSON text."),
        }
    }

    fn untyped_result(&self, result: &Payload, is_declared: bool) -> Option<&'static str> {
        match result {
            Payload::Form(Form::Json) if !is_declared => {
                Some("Its result crosses as JSON text: the server declares no type of it.")
            }
            Payload::Form(Form::Json) => Some("Its result crosses as JSON text."),
            typed if self.is_typed(typed) => None,
            _ => Some("Of its result, what has the type json crosses as JSON text."),
        }
    }
}

/// The server's description of a tool.
fn described(tool: &Tool) -> Vec<String> {
    let definition = tool.definition();
    let said = definition.description.as_deref().or(definition.title.as_deref()).unwrap_or_default();
    doc_lines(said, DESCRIPTION_CHARS, DESCRIPTION_LINES)
}
