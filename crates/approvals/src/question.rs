//! A question to the owner, and what can be done with it.

use std::{sync::Arc, time::SystemTime};

use belljar_model::{AskWay, Effect, RunId, ToolPath};
use serde::{Deserialize, Serialize};

use crate::{Binding, QuestionId, Refusal, State};

/// A question to the owner: whether this call may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub id: QuestionId,
    /// Which call it is about.
    pub binding: Binding,
    /// What the tool may change, according to the owner or to a server that the owner trusts.
    pub effect: Effect,
    /// The owner's words in the rule.
    pub why: Option<Arc<str>>,
    /// The arguments as they would be sent; empty once the question is closed.
    pub arguments: String,
    /// The calls that the run had made by then.
    pub so_far: Vec<Past>,
    /// When it was asked.
    pub asked: SystemTime,
    /// The terminal or client that is asked in addition to `belljar approve`, if any.
    pub desk: Option<u64>,
    /// Whether the owner may decide it with `belljar approve` or on the page, as far as the rule
    /// allows these ways.
    pub for_command: bool,
    /// Whether `belljar approve` may decide without a person typing, according to the owner's
    /// configuration.
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

/// The way in which a decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The terminal at which the run was started.
    Terminal,
    /// `belljar approve` or `belljar deny`, at a terminal.
    Command,
    /// The same without a person typing, if the owner's configuration allows it.
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

/// A place that asks for a run, and where a person can answer: a terminal or a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Desk {
    /// The number under which it finds its questions.
    pub id: u64,
    /// The way in which decisions are made there.
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
    /// Whether the call may be sent.
    pub approve: bool,
    /// Who decided.
    pub by: By,
    /// The way in which it was made.
    pub channel: Channel,
    /// When it was made.
    pub at: SystemTime,
}

/// A change to a question.
#[derive(Debug, Clone)]
pub enum Change {
    /// It is asked.
    Ask(Box<Question>),
    /// It is asked, and approved at once if the owner has already agreed to such calls with any
    /// arguments. Otherwise this is refused.
    Claim(Box<Question>),
    /// It is decided.
    Decide(QuestionId, Decision),
    /// It is approved, and with it all calls of its [`Group`](crate::Group), both open and later
    /// ones.
    Grant(QuestionId, Decision),
    /// The decision is used for the call with this binding: from then on, the call may have been
    /// sent.
    Use(QuestionId, Box<Binding>),
    /// The open questions of a run that may be decided at this desk move there; the command can
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
