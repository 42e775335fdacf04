//! Commands that only the owner may run, whatever the rules say.
//!
//! A person's decision about a call must not be made by the agent that wants the call. A hook
//! cannot guarantee that, since an agent can go around it, but it keeps an agent from trying by
//! mistake.

use crate::{ToolUse, paths};

/// The message for an agent that is about to decide in the owner's place. It names no command.
pub const NOT_YOURS: &str = "Not called. Whether a call that waits is made, is for the user to decide and not for \
                             an agent. Tell the user that it waits, and go on without it.";

/// What may precede the name of a program, besides options, numbers and variables.
const BEFORE: [&str; 20] = [
    "sudo", "env", "exec", "command", "nohup", "time", "timeout", "nice", "setsid", "xargs", "if", "then", "else",
    "elif", "while", "until", "do", "bash", "sh", "zsh",
];
/// How many simple commands, and how many words of each, are examined.
const MAX_PARTS: usize = 256;

/// The commands that decide about calls, or open the page on which the owner does.
const DECIDING: [&str; 2] = ["approve", "ui"];

/// Whether the call runs a command by which an owner approves calls.
pub fn is_the_owners(call: &ToolUse) -> bool {
    paths::whole_commands(&call.input).iter().any(|command| {
        command
            .split([';', '|', '&', '(', ')', '{', '}', '`', '\n'])
            .take(MAX_PARTS)
            .any(|simple| approves(simple.split_whitespace().take(MAX_PARTS)))
    })
}

fn approves<'command>(words: impl Iterator<Item = &'command str>) -> bool {
    let is_before = |word: &&str| {
        let is_aside = word.contains('=') || word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        is_aside || BEFORE.contains(word)
    };
    let mut words = words.map(|word| word.trim_matches(['"', '\''])).skip_while(is_before);
    if words.next().and_then(|program| program.rsplit(['/', '\\']).next()) != Some("belljar") {
        return false;
    }
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            None => return DECIDING.contains(&word),
            // An option may have a value.
            Some(option) if option.starts_with('-') && !option.contains('=') => {
                if words.next().is_some_and(|word| DECIDING.contains(&word)) {
                    return true;
                }
            }
            Some(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::Client;

    #[test]
    fn only_the_command_itself_is_the_owners_and_not_a_text_about_it() {
        for (command, is_theirs) in [
            ("belljar approve a_0fx3", true),
            ("cd x && /usr/bin/belljar -q approve a_0fx3 --yes", true),
            ("X=1 sudo 'belljar' approve a_0fx3 | cat", true),
            ("belljar --config x approve a_1", true),
            ("if true; then belljar approve a_1; fi", true),
            ("timeout 5 belljar approve a_1", true),
            ("sudo -n belljar approve a_1", true),
            ("bash -c \"belljar approve a_1\"", true),
            ("belljar ui --no-open", true),
            ("belljar --config x ui", true),
            ("belljar run --code ui", false),
            ("grep -rn 'belljar approve' docs", false),
            ("belljar run approve.js", false),
            ("belljar approvals", false),
            ("echo belljar approve", false),
        ] {
            let input = json!({ "command": command });
            let call = ToolUse {
                client: Client::ClaudeCode,
                tool: "Bash".to_owned(),
                input: input.as_object().cloned().expect("an object"),
                folder: None,
                session: String::new(),
            };
            assert_eq!(is_the_owners(&call), is_theirs, "{command}");
            let words: Vec<&str> = command.split(' ').collect();
            let listed = ToolUse { input: Map::from_iter([("command".to_owned(), json!(words))]), ..call };
            assert_eq!(is_the_owners(&listed), is_theirs, "{command}, as a list");
        }
    }
}
