//! The owner's rules' verdicts on each call of a run, until they are added to the outcome.

use std::{collections::BTreeMap, sync::Arc};

use belljar_model::{Outcome, ToolPath, Verdict};
use parking_lot::Mutex;

use crate::rests::Judged;

/// The judged calls, by number.
#[derive(Default)]
pub(crate) struct Judgements(Mutex<BTreeMap<u64, Judgement>>);

struct Judgement {
    tool: ToolPath,
    verdict: Verdict,
    rule: Option<Arc<str>>,
}

impl Judgements {
    /// Notes the verdict on a call.
    pub(crate) fn add(&self, number: u64, tool: &ToolPath, verdict: Verdict, rule: Option<Arc<str>>) {
        let judgement = Judgement { tool: tool.clone(), verdict, rule };
        self.0.lock().insert(number, judgement);
    }

    /// The verdicts.
    pub(crate) fn all(&self) -> Vec<Judged> {
        let judged = self.0.lock();
        let said = judged.iter().map(|(number, Judgement { tool, verdict, rule })| Judged {
            number: *number,
            server: tool.server().to_owned(),
            tool: tool.tool().to_owned(),
            verdict: *verdict,
            rule: rule.as_deref().map(str::to_owned),
        });
        said.collect()
    }

    /// Adds the verdicts to the outcome's calls. Those are in the order in which their answers were
    /// handed over, followed by unanswered ones in the order of their numbers.
    pub(crate) fn note_in(&self, outcome: &mut Outcome) {
        let mut judged = std::mem::take(&mut *self.0.lock());
        if judged.is_empty() {
            return;
        }
        let handed: Vec<_> = outcome.order.iter().filter_map(|number| judged.remove(number)).collect();
        let mut said = handed.into_iter().chain(judged.into_values()).peekable();
        for call in &mut outcome.calls {
            // A call that found no room was never judged.
            let is_this = |judged: &Judgement| judged.tool.server() == call.server && judged.tool.tool() == call.tool;
            if let Some(Judgement { verdict, rule, .. }) = said.next_if(is_this) {
                call.verdict = Some(verdict);
                call.rule = rule.map(|rule| rule.to_string());
            }
        }
    }
}
