//! A question as a person sees it: the whole call, with nothing that could act on a terminal or
//! pass for belljar's own words.

use std::{
    fmt::Write as _,
    io,
    time::{SystemTime, UNIX_EPOCH},
};

use belljar_approvals::{Past, Question};
use belljar_model::{
    AskWays,
    display::{self, block, line},
};
use serde_json::{Value, json, value::RawValue};

use crate::render::count::roughly;

/// The heading of the arguments.
const INDENT: &str = "    ";

/// The question as JSON, for programs.
pub(crate) fn in_json(question: &Question) -> Value {
    let binding = &question.binding;
    let milliseconds = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    };
    let arguments = serde_json::from_str::<&RawValue>(&question.arguments).ok();
    json!({
        "id": question.id,
        "run": binding.run,
        "call": binding.number,
        "server": binding.tool.server(),
        "tool": binding.tool.tool(),
        "effect": question.effect,
        "arguments": arguments,
        "rule": binding.rule.as_deref(),
        "why": question.why.as_deref(),
        "principal": binding.principal.as_ref(),
        "asked_ms": milliseconds(question.asked),
        "expires_ms": milliseconds(binding.expires),
        "so_far": question.so_far,
        "who": binding.ways,
    })
}

/// How many times longer arguments may become when they are laid out. Without a bound, deeply
/// nested ones could become a hundred times as long.
const LONGER: usize = 4;
/// Shorter arguments are treated as if they had this many bytes.
const SHORT: usize = 4096;

/// The arguments as a person reads them: laid out, and with invisible characters escaped. If they
/// would become much longer, they are shown as they would be sent.
pub(crate) fn laid_out(arguments: &str) -> String {
    let mut bounded = Bounded { bytes: Vec::new(), room: arguments.len().max(SHORT).saturating_mul(LONGER) };
    let written = serde_json::from_str::<Value>(arguments)
        .and_then(|arguments| serde_json::to_writer_pretty(&mut bounded, &arguments));
    let laid_out = written.ok().and_then(|()| String::from_utf8(bounded.bytes).ok());
    display::json(laid_out.as_deref().unwrap_or(arguments)).into_owned()
}

/// Collects bytes up to a bound. Going beyond it is an error, and nothing more is stored.
struct Bounded {
    bytes: Vec<u8>,
    room: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        self.room = self.room.checked_sub(more.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The question, one fact per line, with the arguments that would be sent.
pub(crate) fn shown(question: &Question) -> String {
    let binding = &question.binding;
    let mut text = format!("  call       {}  ({})", line(&binding.tool.to_string()), question.effect);
    let why = question.why.as_ref().map(|why| format!(": {}", line(why))).unwrap_or_default();
    let _ = match &binding.rule {
        Some(rule) => write!(text, "\n  rule       '{}'{why}", line(rule)),
        None => write!(text, "\n  rule       the default of the owner's rules"),
    };
    let _ = write!(
        text,
        "\n  run        {}, call {}, asked for by {}",
        binding.run,
        binding.number,
        line(&binding.principal)
    );
    if binding.ways != AskWays::default() {
        let _ = write!(text, "\n  asked by   {}", binding.ways);
    }
    let laid_out = laid_out(&question.arguments);
    let _ = write!(text, "\n  arguments  {} bytes\n{INDENT}{}", question.arguments.len(), block(&laid_out, INDENT));
    if question.so_far.is_empty() {
        text.push_str("\n  so far     the run has called nothing");
    }
    for (at, Past { tool, ok, calls }) in question.so_far.iter().enumerate() {
        let heading = if at == 0 { "so far   " } else { "         " };
        let ended = if *ok { "ok" } else { "failed" };
        let times = if *calls > 1 { format!(" ({calls} times)") } else { String::new() };
        let _ = write!(text, "\n  {heading}  {}: {ended}{times}", line(tool));
    }
    let left = roughly(binding.expires.duration_since(SystemTime::now()).unwrap_or_default());
    let _ = write!(text, "\n  until      {} (in {left})", humantime::format_rfc3339_seconds(binding.expires));
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_approvals::{Binding, QuestionId, digest};
    use belljar_model::{Effect, RunId, ToolPath};

    use super::*;

    #[test]
    fn deep_arguments_are_not_laid_out_and_are_shown_all_the_same() {
        let deep = format!("{}{}{}", "[".repeat(120), "[0],".repeat(10_000) + "0", "]".repeat(120));
        assert_eq!(laid_out(&deep), deep);
        assert_eq!(laid_out("{\"a\":[1]}"), "{\n  \"a\": [\n    1\n  ]\n}");
    }

    #[test]
    fn all_of_the_call_is_shown_and_nothing_in_it_acts_on_a_terminal_or_begins_a_line() {
        let arguments = "{\"to\":\"a\\u001b[2Jb\\u202e\",\"note\":\"x\\n  rule       'none'\"}";
        let question = Question {
            id: QuestionId::from_bits(1),
            binding: Binding {
                run: RunId::from_bits(7),
                number: 3,
                tool: ToolPath::new("bank", "refund\u{1b}[1m"),
                arguments: digest(arguments.as_bytes()),
                definition: digest(b""),
                rule: Some("big".into()),
                ways: AskWays::default(),
                principal: "owner".into(),
                expires: SystemTime::UNIX_EPOCH + Duration::from_secs(100),
            },
            effect: Effect::External,
            why: Some("money leaves".into()),
            arguments: arguments.to_owned(),
            so_far: vec![Past { tool: "bank.list\n".to_owned(), ok: false, calls: 2 }],
            asked: SystemTime::UNIX_EPOCH,
            desk: None,
            for_command: true,
            allow_yes: false,
        };
        assert_eq!(
            shown(&question),
            "  call       bank.refund\\u{1b}[1m  (external)\n  rule       'big': money leaves\n  \
             run        r_0000000000007, call 3, asked for by owner\n  arguments  58 bytes\n    {\n      \
             \"to\": \"a\\u001b[2Jb\\u202e\",\n      \"note\": \"x\\n  rule       'none'\"\n    }\n  \
             so far     bank.list\\n: failed (2 times)\n  until      1970-01-01T00:01:40Z (in 0s)"
        );
        assert!(!shown(&question).contains(|character: char| character != '\n' && character.is_control()));
    }
}
