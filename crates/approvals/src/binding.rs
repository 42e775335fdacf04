//! Identifies what a decision is about: exactly one call.

use std::{sync::Arc, time::SystemTime};

use belljar_model::{AskWays, RunId, ToolPath};
use sha2::{Digest as _, Sha256};

use crate::{part::Part, state::Refusal};

/// A SHA-256.
pub type Digest = [u8; 32];

/// The SHA-256 of a text.
pub fn digest(text: &[u8]) -> Digest {
    Sha256::digest(text).into()
}

/// The call that a decision is bound to. If any part differs, the decision is about another call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The run.
    pub run: RunId,
    /// The call's number among the calls and timers of its run.
    pub number: u64,
    /// The tool.
    pub tool: ToolPath,
    /// The digest of the arguments as they would be sent.
    pub arguments: Digest,
    /// The digest of the tool's definition, as its server sent it.
    pub definition: Digest,
    /// The rule that asks, or `None` for the default.
    pub rule: Option<Arc<str>>,
    /// The ways in which the rule lets a decision be made.
    pub ways: AskWays,
    /// Who calls: the owner, or the name of a token.
    pub principal: Arc<str>,
    /// The time until which a decision may be made, and until which it is valid.
    pub expires: SystemTime,
}

impl Binding {
    /// Whether a decision about this binding is valid at this time for the call that is about to be
    /// sent.
    ///
    /// # Errors
    /// The first difference, or that it is too late.
    pub fn admits(&self, sent: &Self, now: SystemTime) -> Result<(), Refusal> {
        let parts = [
            (self.run == sent.run, Part::Run),
            (self.number == sent.number, Part::Call),
            (self.tool == sent.tool, Part::Tool),
            (self.arguments == sent.arguments, Part::Arguments),
            (self.definition == sent.definition, Part::Definition),
            (self.rule == sent.rule, Part::Rule),
            (self.ways == sent.ways, Part::Ways),
            (self.principal == sent.principal, Part::Principal),
        ];
        match parts.into_iter().find(|(is_equal, _)| !is_equal) {
            Some((_, part)) => Err(Refusal::Differs(part)),
            None if now >= self.expires => Err(Refusal::TooLate),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn binding() -> Binding {
        Binding {
            run: RunId::from_bits(1),
            number: 2,
            tool: ToolPath::new("bank", "refund"),
            arguments: digest(b"{\"amount\":82}"),
            definition: digest(b"{}"),
            rule: Some("refunds".into()),
            ways: AskWays::default(),
            principal: "owner".into(),
            expires: SystemTime::UNIX_EPOCH + Duration::from_secs(100),
        }
    }

    #[test]
    fn a_decision_is_about_one_call_and_each_difference_has_its_reason() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(99);
        assert_eq!(binding().admits(&binding(), now), Ok(()));
        let change = |change: &dyn Fn(&mut Binding)| {
            let mut sent = binding();
            change(&mut sent);
            binding().admits(&sent, now)
        };
        for (refused, part) in [
            (change(&|sent| sent.run = RunId::from_bits(3)), Part::Run),
            (change(&|sent| sent.number = 3), Part::Call),
            (change(&|sent| sent.tool = ToolPath::new("bank", "pay")), Part::Tool),
            (change(&|sent| sent.arguments = digest(b"{\"amount\":820}")), Part::Arguments),
            (change(&|sent| sent.definition = digest(b"{ }")), Part::Definition),
            (change(&|sent| sent.rule = None), Part::Rule),
            (change(&|sent| sent.rule = Some("other".into())), Part::Rule),
            (change(&|sent| sent.ways = AskWays::NONE), Part::Ways),
            (change(&|sent| sent.principal = "ci".into()), Part::Principal),
        ] {
            assert_eq!(refused, Err(Refusal::Differs(part)));
        }
        // The time in the binding of the call to be sent is ignored.
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        let mut sent = binding();
        sent.expires = later + Duration::from_secs(1000);
        assert_eq!(binding().admits(&sent, later), Err(Refusal::TooLate));
    }
}
