//! What is asked, and what can be done with it.

use std::{sync::Arc, time::SystemTime};

use belljar_model::{AskWay, Effect, RunId, ToolPath};
use serde::{Deserialize, Serialize};

use crate::{Binding, QuestionId, Refusal, State};

/// A question to the owner: whether this call is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub id: QuestionId,
    /// Which call it is about.
    pub binding: Binding,
    /// What the tool may change, according to its owner or to a server that the owner trusts.
    pub effect: Effect,
    /// The owner's words in the rule.
    pub why: Option<Arc<str>>,
    /// The arguments as they would be sent; empty once the question is closed.
    pub arguments: String,
    /// What the run had done by then.
    pub so_far: Vec<Past>,
    /// When it was asked.
    pub asked: SystemTime,
    /// The terminal or client that is asked beside `belljar approve`, if any.
    pub desk: Option<u64>,
    /// Whether the owner may decide it, by `belljar approve` or on the page, as far as its ways go.
    pub for_command: bool,
    /// Whether `belljar approve` may decide without a person typing, as the owner's configuration
    /// says.
    pub allow_yes: bool,
}

/// Calls that the run made before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// The tool.
    pub tool: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// How many such calls there were in a row.
    pub calls: u64,
}

/// The way by which a decision came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The terminal at which the run was started.
    Terminal,
    /// `belljar approve` or `belljar deny`, at a terminal.
    Command,
    /// The same without a person typing, which the owner's configuration allows.
    Unattended,
    /// A form that the client showed.
    Elicitation,
    /// belljar's page, in the owner's browser.
    Page,
}

impl Channel {
    /// The name used in JSON and in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Command => "command",
            Self::Unattended => "unattended",
            Self::Elicitation => "elicitation",
            Self::Page => "page",
        }
    }

    /// The name used in rules.
    pub fn way(self) -> AskWay {
        match self {
            Self::Terminal | Self::Command | Self::Unattended => AskWay::Cli,
            Self::Elicitation => AskWay::Elicitation,
            Self::Page => AskWay::Page,
        }
    }
}

/// A place that asks for a run and where a person can answer: a terminal, or a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Desk {
    /// The number by which it finds its questions.
    pub id: u64,
    /// The way by which decisions come from there.
    pub way: AskWay,
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The owner, by a command or on the page.
    Owner,
    /// The person at the place where the run was started.
    Desk(u64),
}

/// A decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether the call is to be sent.
    pub approve: bool,
    /// Who decided.
    pub by: By,
    /// Which way it came.
    pub channel: Channel,
    /// When.
    pub at: SystemTime,
}

/// What can be done with a question.
#[derive(Debug, Clone)]
pub enum Change {
    /// It is asked.
    Ask(Box<Question>),
    /// It is asked, and agreed to at once if the owner has agreed to any arguments of such calls.
    /// Otherwise this is refused.
    Claim(Box<Question>),
    /// It is decided.
    Decide(QuestionId, Decision),
    /// It is agreed to, and with it all calls of its [`Group`](crate::Group): open ones and later
    /// ones.
    Grant(QuestionId, Decision),
    /// The decision is used for the call with this binding: from then on it may have been sent.
    Use(QuestionId, Box<Binding>),
    /// The open questions of a run that may be decided at this place move there; the command can
    /// still decide them.
    Move(RunId, Desk),
    /// It ends without a decision.
    End(QuestionId, State),
}

impl Question {
    /// Whether this decision is allowed.
    ///
    /// # Errors
    /// Why it is not.
    pub fn takes(&self, decision: &Decision) -> Result<(), Refusal> {
        match decision.by {
            _ if !self.binding.ways.has(decision.channel.way()) => Err(Refusal::OtherWay(self.binding.ways)),
            By::Owner if !self.for_command => Err(Refusal::OfAnother),
            By::Desk(desk) if self.desk != Some(desk) => Err(Refusal::OfAnother),
            _ if decision.at >= self.binding.expires => Err(Refusal::TooLate),
            _ => Ok(()),
        }
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.binding.run
    }

    /// The tool.
    pub fn tool(&self) -> &ToolPath {
        &self.binding.tool
    }
}
