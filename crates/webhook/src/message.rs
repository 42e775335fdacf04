//! The contents of a message: which calls of a run are waiting, which rule asks about them, why,
//! and until when.

use std::time::SystemTime;

use belljar_approvals::{Group, Question, QuestionId};
use belljar_model::{Effect, RunId};
use serde::Serialize;
use serde_json::value::RawValue;

/// The most questions that one message names. All of them are counted.
const NAMED: usize = 20;
/// The most bytes of arguments in one message.
const ARGUMENTS_BYTES: usize = 256 * 1024;

/// One message: calls of one tool, in one run, about which one rule asks.
#[derive(Serialize)]
struct Message<'q> {
    event: &'static str,
    version: u32,
    run: RunId,
    server: &'q str,
    tool: &'q str,
    effect: Effect,
    rule: Option<&'q str>,
    why: Option<&'q str>,
    principal: &'q str,
    calls: usize,
    until: String,
    questions: Vec<Named<'q>>,
}

#[derive(Serialize)]
struct Named<'q> {
    id: QuestionId,
    call: u64,
    arguments_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'q RawValue>,
}

/// The bodies of messages about these questions, one for each group.
pub(crate) fn bodies(questions: &[Box<Question>], with_arguments: bool) -> Vec<Vec<u8>> {
    let mut groups: Vec<(Group, Vec<&Question>)> = Vec::new();
    for question in questions {
        let group = Group::of(&question.binding);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, of_group)) => of_group.push(question),
            None => groups.push((group, vec![question])),
        }
    }
    groups.iter().filter_map(|(_, of_group)| body(of_group, with_arguments)).collect()
}

fn body(questions: &[&Question], with_arguments: bool) -> Option<Vec<u8>> {
    let first = questions.first()?;
    let mut room = if with_arguments { ARGUMENTS_BYTES } else { 0 };
    let named = questions.iter().take(NAMED).map(|question| {
        let text = question.arguments.as_str();
        let arguments = (text.len() <= room).then(|| serde_json::from_str::<&RawValue>(text).ok()).flatten();
        room -= arguments.map_or(0, |_| text.len());
        Named { id: question.id, call: question.binding.number, arguments_bytes: text.len(), arguments }
    });
    let until = questions.iter().map(|question| question.binding.expires).min().unwrap_or(SystemTime::UNIX_EPOCH);
    let message = Message {
        event: "approval",
        version: 1,
        run: first.binding.run,
        server: first.binding.tool.server(),
        tool: first.binding.tool.tool(),
        effect: first.effect,
        rule: first.binding.rule.as_deref(),
        why: first.why.as_deref(),
        principal: &first.binding.principal,
        calls: questions.len(),
        until: humantime::format_rfc3339_seconds(until).to_string(),
        questions: named.collect(),
    };
    serde_json::to_vec(&message).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_approvals::{Binding, digest};
    use belljar_model::{AskWays, ToolPath};
    use serde_json::{Value, json};

    use super::*;

    fn question(number: u64, tool: &str, arguments: &str) -> Box<Question> {
        Box::new(Question {
            id: QuestionId::from_bits(number),
            binding: Binding {
                run: RunId::from_bits(1),
                number,
                tool: ToolPath::new("bank", tool),
                arguments: digest(arguments.as_bytes()),
                definition: digest(b""),
                rule: Some("refunds".into()),
                ways: AskWays::default(),
                principal: "owner".into(),
                expires: SystemTime::UNIX_EPOCH + Duration::from_secs(100 - number),
            },
            effect: Effect::External,
            why: Some("money leaves".into()),
            arguments: arguments.to_owned(),
            so_far: Vec::new(),
            asked: SystemTime::UNIX_EPOCH,
            desk: None,
            for_command: true,
            allow_yes: false,
        })
    }

    fn told(questions: &[Box<Question>], with_arguments: bool) -> Vec<Value> {
        let bodies = bodies(questions, with_arguments);
        bodies.iter().map(|body| serde_json::from_slice(body).expect("JSON")).collect()
    }

    #[test]
    fn calls_that_wait_for_one_reason_are_one_message_without_arguments_unless_the_owner_says_so() {
        let all =
            [question(1, "refund", r#"{"to":"u_17"}"#), question(2, "pay", "{}"), question(3, "refund", r#"{"a":1}"#)];
        let both = told(&all, false);
        let expected = json!({
            "event": "approval", "version": 1, "run": RunId::from_bits(1), "server": "bank", "tool": "refund",
            "effect": "external", "rule": "refunds", "why": "money leaves", "principal": "owner", "calls": 2,
            "until": "1970-01-01T00:01:37Z",
            "questions": [
                { "id": QuestionId::from_bits(1), "call": 1, "arguments_bytes": 13 },
                { "id": QuestionId::from_bits(3), "call": 3, "arguments_bytes": 7 },
            ],
        });
        assert_eq!((both.len(), &both[0]), (2, &expected));
        assert!(!both[0].to_string().contains("u_17"));
        assert_eq!(told(&all, true)[0]["questions"][0]["arguments"], json!({ "to": "u_17" }));
    }

    #[test]
    fn a_message_is_bounded_whatever_waits() {
        let long = format!("{{\"x\":\"{}\"}}", "y".repeat(60 * 1024));
        let many: Vec<_> = (0..90).map(|number| question(number, "refund", &long)).collect();
        let body = bodies(&many, true).remove(0);
        assert!(body.len() < ARGUMENTS_BYTES + 64 * 1024, "{}", body.len());
        let message = &told(&many, true)[0];
        let named = message["questions"].as_array().expect("a list");
        assert_eq!((&message["calls"], named.len()), (&json!(90), NAMED));
        assert_eq!(named.iter().filter(|each| each.get("arguments").is_some()).count(), 4);
    }
}
