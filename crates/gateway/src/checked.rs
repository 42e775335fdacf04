//! Turns the text of a call's arguments into the text that is sent. The tree that a check needs is
//! kept only for as long as necessary.
//!
//! A megabyte of `[0,0,…]` is a tree of some forty megabytes, and a run may have a thousand calls
//! under way. So a call waits as text, and only a bounded number of large trees exist at a time.

use std::sync::Arc;

use belljar_model::{JsonText, ToolPath, Verdict};
use belljar_policy::{Decision, ToolPolicy};
use serde_json::{Map, Value};
use tokio::{sync::OwnedSemaphorePermit, task::spawn_blocking};

use crate::{
    Toolbox,
    approvals::{Checked, Held, NotSent},
    arguments::Refusal,
    history::{Inquiry, Known},
    rules::{self, AsRules, Files, denial},
};

/// The longest text that is parsed in place: some hundred microseconds, and at worst some three
/// megabytes.
const SMALL_BYTES: usize = 64 * 1024;
/// How many trees of longer texts may exist at once, over all runs. Each takes up to seventy times
/// `max_arguments`.
pub(crate) const LARGE_TREES: usize = 2;

impl Toolbox {
    /// Returns the arguments as they are to be sent, if they fit the tool's schema and the owner's
    /// rules allow the call.
    ///
    /// Every call of a tool passes here. Only the result of this function, or of [`Held::settle`]
    /// on it, is ever sent.
    ///
    /// The text is written again from the tree that was judged, so a duplicate name cannot mean one
    /// thing to the check and another to the child.
    ///
    /// # Errors
    /// The [`Refusal`] of the check, or of a text that is not a JSON object whose numbers a parser
    /// takes; the [`Denial`](belljar_model::Denial) of the rules.
    ///
    /// # Cancellation
    /// If the future is dropped while a tree is being built, the thread that builds it finishes,
    /// and the tree counts until it is gone.
    pub(crate) async fn checked(
        &self,
        path: &ToolPath,
        arguments: JsonText,
        who: &AsRules,
    ) -> Result<Checked, NotSent> {
        let is_pinned = self.policy().is_some_and(|policy| policy.is_pinned(path));
        if is_pinned {
            self.look_again(path.server()).await;
        }
        let checks = self.checks(path);
        let is_large = arguments.as_str().len() > SMALL_BYTES;
        let mut tree = if is_large {
            // It is never closed.
            let permit = self.large_trees().acquire_owned().await.ok();
            on_a_thread(move || Tree::of(&arguments, permit)).await?
        } else {
            Tree::of(&arguments, None)?
        };
        tree.members = self.routed(path, tree.members).await?;
        let mut warning = None;
        if let Some(checks) = checks {
            let admitted = checks.admit(path.tool(), tree.members).await?;
            (tree.members, warning) = (admitted.arguments, admitted.warning);
        }
        let mut decision = None;
        if let (Some((judge, files)), Some(policy)) = (self.judge_of(path), self.policy()) {
            let files = Arc::new(files);
            if files.resolves(path.server()) {
                let (files, path, who) = (files.clone(), path.clone(), who.clone());
                tree = on_a_thread(move || tree.with_real_paths(&files, &path, &who)).await?;
            }
            let mut inquiry = Inquiry::new(self, policy, who);
            let decided = loop {
                let known = inquiry.known();
                let decided = if is_large || judge.asks_places() {
                    let (judge, files, who) = (judge.clone(), files.clone(), who.clone());
                    let judging = on_a_thread(move || (judge_tree(&judge, &files, &who, &known, &tree), tree));
                    let (decided, judged) = judging.await;
                    tree = judged;
                    decided
                } else {
                    judge_tree(&judge, &files, who, &known, &tree)
                };
                if !inquiry.find_out().await {
                    break decided;
                }
            };
            let decided = match decided.verdict {
                Verdict::Allow if is_pinned && self.is_held_by_pin(path).await => decided.held_by_pin(),
                _ => decided,
            };
            inquiry.settle(&decided).await;
            if let Some(denial) = denial(path, &decided) {
                return Err(NotSent::Denied(denial));
            }
            decision = Some(decided);
        }
        let arguments = if is_large { on_a_thread(move || tree.into_text()).await } else { tree.into_text() };
        match decision {
            Some(asks) if asks.verdict == Verdict::Ask => {
                let checked = Checked { arguments, warning, decision: None };
                Err(NotSent::MustBeAsked(Box::new(Held::new(checked, asks))))
            }
            decision => Ok(Checked { arguments, warning, decision }),
        }
    }
}

fn judge_tree(judge: &ToolPolicy, files: &Files, who: &AsRules, history: &Known, tree: &Tree) -> Decision {
    rules::judge(judge, files, who, history, &tree.members)
}

/// Arguments in the form that rules judge.
struct Tree {
    members: Map<String, Value>,
    /// The permit for a large tree, released with the tree.
    permit: Option<OwnedSemaphorePermit>,
}

impl Tree {
    fn of(arguments: &JsonText, permit: Option<OwnedSemaphorePermit>) -> Result<Self, Refusal> {
        match arguments.to_value() {
            Ok(Value::Object(members)) => Ok(Self { members, permit }),
            Ok(_) => Err(Refusal {
                message: "the arguments are not an object".to_owned(),
                hint: "a tool takes one object with named arguments".to_owned(),
            }),
            Err(_) => Err(Refusal {
                message: "the arguments hold a number that no JSON parser takes".to_owned(),
                hint: "send it as a string, or send a smaller one".to_owned(),
            }),
        }
    }

    /// Paths are resolved first, so that exactly what is sent is judged.
    fn with_real_paths(self, files: &Files, path: &ToolPath, who: &AsRules) -> Result<Self, NotSent> {
        let Self { members, permit } = self;
        let members = files.resolved(path.server(), who.named(), members).map_err(NotSent::NotAPath)?;
        Ok(Self { members, permit })
    }

    fn into_text(self) -> JsonText {
        let Self { members, permit } = self;
        let text = JsonText::from_value(&Value::Object(members));
        drop(permit);
        text
    }
}

/// Does work that is too long for the runtime's threads.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use belljar_model::JsonBounds;
    use belljar_upstream::{BuiltIns, Options};
    use futures::future::join_all;

    use super::*;

    fn toolbox() -> Arc<Toolbox> {
        Arc::new(Toolbox::new(Vec::new(), BuiltIns::default(), Options::new("belljar-tests", "0")))
    }

    fn text(text: impl Into<String>) -> JsonText {
        JsonText::parse(text.into(), &JsonBounds::with_bytes(usize::MAX)).expect("JSON")
    }

    async fn checked(arguments: JsonText) -> Result<JsonText, Refusal> {
        match toolbox().checked(&ToolPath::new("server", "tool"), arguments, &AsRules::default()).await {
            Ok(checked) => Ok(checked.arguments),
            Err(NotSent::Refused(refusal)) => Err(refusal),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_name_that_stands_twice_is_sent_once() {
        let sent = checked(text(r#"{"path": "/etc", "n": 1, "path": "/tmp"}"#)).await.expect("an object");
        assert_eq!(sent.as_str(), r#"{"path":"/tmp","n":1}"#);
    }

    #[tokio::test]
    async fn what_is_not_an_object_of_numbers_that_can_be_read_is_refused() {
        assert!(checked(text("[1]")).await.expect_err("an array").message.contains("not an object"));
        assert!(checked(text(r#"{"n": 1e400}"#)).await.expect_err("a number").message.contains("no JSON parser takes"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn large_arguments_wait_for_each_other_and_are_all_sent() {
        let toolbox = toolbox();
        let zeros = text(format!(r#"{{"zeros":[{}0]}}"#, "0,".repeat(SMALL_BYTES)));
        let (path, who) = (ToolPath::new("server", "tool"), AsRules::default());
        let all = (0..20).map(|_| toolbox.checked(&path, zeros.clone(), &who));
        for sent in join_all(all).await {
            assert_eq!(sent.expect("an object").arguments, zeros);
        }
        assert_eq!(toolbox.large_trees().available_permits(), LARGE_TREES);
    }
}
