//! The catalogue's answers: as JSON for programs, and as text for a model.

use std::fmt::Write as _;

use belljar_model::{Effect, ToolPath};
use serde::Serialize;

use crate::{
    bounds::{SHOWN_NAME_CHARS, UNAVAILABLE_SHOWN},
    observed::Observed,
    query::Detail,
    text::one_line,
    tool::Tool,
};

/// Bytes of a text per token, in tenths. Signatures and declarations of real tools have 4.1 to 4.4
/// in o200k; a lower value is used so that a budget is kept.
const TENTHS_OF_BYTES_PER_TOKEN: usize = 36;

/// About how many tokens a text takes: its bytes divided by 3.6, rounded up.
pub fn estimate_tokens(text: &str) -> usize {
    (text.len() * 10).div_ceil(TENTHS_OF_BYTES_PER_TOKEN)
}

/// How many bytes fit into a budget of tokens.
pub(crate) fn bytes_for(tokens: usize) -> usize {
    tokens.saturating_mul(TENTHS_OF_BYTES_PER_TOKEN) / 10
}

/// The answer to a [`Query`](crate::Query).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Answer {
    /// The tools, the best first; in a catalogue, server by server.
    pub results: Vec<Found>,
    /// How many more there are that did not fit into the limit or the budget.
    pub omitted: usize,
    /// The servers whose tools are not known, whatever the query was.
    pub unavailable: Vec<Unavailable>,
    /// Further notes: a server that does not exist, a budget that is too small. Usually empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether the text only names the unavailable servers, because other servers had what was
    /// asked for.
    #[serde(skip)]
    pub(crate) is_brief_on_unavailable: bool,
    /// In a catalogue, each server with its count.
    #[serde(skip)]
    pub(crate) heads: Vec<Head>,
    /// How to get what was left out.
    #[serde(skip)]
    pub(crate) more: String,
    /// How many of the omitted tools have little to do with the query.
    #[serde(skip)]
    pub(crate) weak: usize,
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Its path.
    pub path: ToolPath,
    /// Its server's configured name.
    pub server: String,
    /// Its exact name.
    pub tool: String,
    /// What it may change.
    pub effect: Effect,
    /// The first sentence of its description; absent if only names were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The signature on one line, or the whole declaration if everything was requested; absent if
    /// only names were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declaration: Option<String>,
    /// Whether its server keeps one state for all calls, so that overlapping calls may mix.
    #[serde(skip_serializing_if = "is_false")]
    pub stateful: bool,
    /// Where its paths may lead, if its owner says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folders: Option<String>,
    /// Its server's start arguments, if they say where its paths may lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_with: Option<String>,
    /// Further lines on its description and its arguments, for the best tools if there is room.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// How a script calls it.
    #[serde(skip)]
    pub(crate) expression: String,
    #[serde(skip)]
    layout: Layout,
}

/// How a tool is written in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// On one line with other names of its server.
    Listed,
    /// On a line of its own.
    Line,
    /// On several lines, followed by an empty one.
    Block,
}

/// A server whose tools are not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// Its configured name.
    pub server: String,
    /// Why.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

/// A line of a catalogue.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    /// Its global.
    pub(crate) namespace: String,
    /// How many of its tools match the query.
    pub(crate) tools: usize,
    /// How many of them are named.
    pub(crate) shown: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Found {
    /// The answer's text about a tool at a level of detail.
    pub fn new(tool: &Tool, detail: Detail) -> Self {
        Self::with(tool, detail, None)
    }

    /// The same, with its observed result.
    pub fn with(tool: &Tool, detail: Detail, observed: Option<&Observed>) -> Self {
        let (declaration, layout) = match detail {
            Detail::Names => (None, Layout::Listed),
            Detail::Brief => (Some(tool.signature_with(observed)), Layout::Line),
            Detail::Full => (Some(tool.declaration_with(observed)), Layout::Block),
        };
        Self {
            path: tool.path().clone(),
            server: tool.path().server().to_owned(),
            tool: tool.path().tool().to_owned(),
            effect: tool.effect(),
            summary: declaration.as_ref().map(|_| tool.summary().to_owned()),
            declaration,
            stateful: tool.shares_state(),
            folders: tool.folders().filter(|_| detail != Detail::Names).map(str::to_owned),
            started_with: tool.started_with().filter(|_| detail != Detail::Names).map(str::to_owned),
            details: Vec::new(),
            expression: tool.expression().to_owned(),
            layout,
        }
    }

    /// A tool that is shown by name only, among others that are shown with more.
    pub(crate) fn name_alone(tool: &Tool) -> Self {
        Self { layout: Layout::Line, ..Self::new(tool, Detail::Names) }
    }

    /// The text for a model, including the line's end.
    pub(crate) fn to_text(&self) -> String {
        let effect = if self.stateful { format!("{}, stateful", self.effect) } else { self.effect.to_string() };
        let line = match (&self.declaration, &self.summary) {
            (Some(declaration), _) if self.layout == Layout::Block => format!("{declaration}\n\n"),
            (Some(signature), Some(summary)) if !summary.is_empty() => {
                format!("{signature}  // {summary} ({effect})\n")
            }
            (Some(signature), _) => format!("{signature}  // ({effect})\n"),
            (None, _) => format!("{}  // ({effect})\n", self.expression),
        };
        self.details.iter().fold(line, |text, more| text + &detail_line(more))
    }

    /// The last part of the expression: its name in a list of its server's tools.
    fn property(&self) -> &str {
        self.expression.split_once('.').map_or(self.expression.as_str(), |(_, property)| property)
    }
}

/// A line under the signature.
pub(crate) fn detail_line(text: &str) -> String {
    format!("    // {text}\n")
}

impl Head {
    /// The prefix of the names.
    pub(crate) fn to_text(&self) -> String {
        match self.tools {
            0 => format!("{} (no tools)", self.namespace),
            1 => format!("{} (1 tool): ", self.namespace),
            tools => format!("{} ({tools} tools): ", self.namespace),
        }
    }
}

impl Unavailable {
    fn to_text(&self) -> String {
        let name = one_line(&self.server, SHOWN_NAME_CHARS);
        if self.hint.is_empty() {
            format!("{name}: {}", self.reason)
        } else {
            format!("{name}: {} ({})", self.reason, self.hint)
        }
    }
}

impl Answer {
    /// The text for a model. It uses the names under which a script calls the tools.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if self.heads.is_empty() {
            self.write_results(&mut text);
        } else {
            self.write_catalogue(&mut text);
        }
        text.push_str(&self.remarks());
        text
    }

    /// The lines after the results: what was left out, which servers are unavailable, and the
    /// notes.
    pub(crate) fn remarks(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            let _ = writeln!(text, "Note: {note}");
        }
        if self.omitted > 0 {
            let weak = match self.weak.min(self.omitted) {
                0 => String::new(),
                weak if weak == self.omitted => ", which match weakly,".to_owned(),
                weak => format!(", {weak} of which match weakly,"),
            };
            let (tools, are) = if self.omitted == 1 { ("tool", "is") } else { ("tools", "are") };
            let weak = if self.omitted == 1 { weak.replace("match ", "matches ") } else { weak };
            let _ = writeln!(text, "{} more {tools}{weak} {are} left out: {}.", self.omitted, self.more);
        }
        if self.is_brief_on_unavailable && !self.unavailable.is_empty() {
            let names = self.unavailable.iter().take(UNAVAILABLE_SHOWN);
            let names: Vec<String> = names.map(|server| one_line(&server.server, SHOWN_NAME_CHARS)).collect();
            let more = match self.unavailable.len().saturating_sub(UNAVAILABLE_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let _ = writeln!(text, "Unavailable: {}{more} (search with server for the reason).", names.join(", "));
            return text;
        }
        for server in self.unavailable.iter().take(UNAVAILABLE_SHOWN) {
            let _ = writeln!(text, "Unavailable: {}", server.to_text());
        }
        if let Some(more @ 1..) = self.unavailable.len().checked_sub(UNAVAILABLE_SHOWN) {
            let _ = writeln!(text, "Unavailable: {more} more servers");
        }
        text
    }

    fn write_results(&self, text: &mut String) {
        let mut server: Option<&str> = None;
        for found in &self.results {
            if found.layout == Layout::Listed {
                if server == Some(found.server.as_str()) {
                    text.push_str(", ");
                } else {
                    text.push_str(if server.is_some() { "\n" } else { "" });
                    let namespace = found.expression.split_once('.').map_or("", |(namespace, _)| namespace);
                    let _ = write!(text, "{namespace}: ");
                }
                text.push_str(found.property());
                server = Some(&found.server);
            } else {
                text.push_str(&found.to_text());
            }
        }
        if server.is_some() {
            text.push('\n');
        }
    }

    fn write_catalogue(&self, text: &mut String) {
        let mut results = self.results.iter();
        for head in &self.heads {
            text.push_str(&head.to_text());
            for (at, found) in results.by_ref().take(head.shown).enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                text.push_str(found.property());
            }
            match head.tools - head.shown {
                0 => {}
                left if head.shown == 0 => {
                    let _ = write!(text, "{left} not shown");
                }
                left => {
                    let _ = write!(text, ", … {left} more");
                }
            }
            text.push('\n');
        }
    }
}
