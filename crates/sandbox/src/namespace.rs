//! What a script sees of a server: its global variables, and how its tools are called.

use belljar_recording::{CallForm, GlobalFunction, Server};

/// A server as the script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The server's name. It is also the server in the paths of all its tools.
    pub server: String,
    /// The global variables that hold the namespace.
    pub globals: Vec<String>,
    /// How a script passes arguments to its tools.
    pub style: CallStyle,
    /// What its tools answer with.
    pub answers: AnswerStyle,
}

/// How a script passes arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallStyle {
    /// One object with named arguments. The arguments of a call are a JSON object.
    #[default]
    Object,
    /// Any number of values, of any type. The arguments of a call are a JSON array, in extended
    /// JSON ([`ScriptValue`](crate::ScriptValue)).
    Positional,
}

/// What an answer is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerStyle {
    /// An MCP `CallToolResult`, from which the script gets the most useful part.
    #[default]
    ToolResult,
    /// The value itself, in extended JSON: the script gets exactly this. A failed call throws an
    /// error with the name and the bare message of its [`CallError`](crate::CallError). Arguments
    /// are in extended JSON too.
    Plain,
}

/// A global function that is a tool of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The position of the namespace in [`Tools::namespaces`](crate::Tools::namespaces). It may
    /// have no globals.
    pub namespace: usize,
    /// The property of the namespace's directory that is the tool.
    pub property: String,
}

impl Namespace {
    /// A server whose tools are called as in MCP.
    pub fn new(server: impl Into<String>, globals: Vec<String>) -> Self {
        let (style, answers) = (CallStyle::Object, AnswerStyle::ToolResult);
        Self { server: server.into(), globals, style, answers }
    }

    /// As it is recorded.
    pub(crate) fn form(&self) -> CallForm {
        CallForm { positional: self.style == CallStyle::Positional, plain: self.answers == AnswerStyle::Plain }
    }
}

impl From<&Namespace> for Server {
    fn from(namespace: &Namespace) -> Self {
        Self { name: namespace.server.clone(), globals: namespace.globals.clone(), form: namespace.form() }
    }
}

impl From<&Server> for Namespace {
    fn from(Server { name, globals, form }: &Server) -> Self {
        let style = if form.positional { CallStyle::Positional } else { CallStyle::Object };
        let answers = if form.plain { AnswerStyle::Plain } else { AnswerStyle::ToolResult };
        Self { server: name.clone(), globals: globals.clone(), style, answers }
    }
}

impl From<&Function> for GlobalFunction {
    fn from(Function { name, namespace, property }: &Function) -> Self {
        let server = u32::try_from(*namespace).unwrap_or(u32::MAX);
        Self { name: name.clone(), server, property: property.clone() }
    }
}

impl From<&GlobalFunction> for Function {
    fn from(GlobalFunction { name, server, property }: &GlobalFunction) -> Self {
        Self { name: name.clone(), namespace: *server as usize, property: property.clone() }
    }
}
