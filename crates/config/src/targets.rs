//! `[servers.X.targets]`: the owner's targets for a server's figures.

use belljar_model::Targets;

use crate::{
    error::Located,
    life::{A_DURATION, duration, expected_duration},
    server::Server,
    tree::{Entry, Value},
};

impl Server<'_> {
    pub(crate) fn targets(&self) -> Result<Targets, Located> {
        let mut targets = Targets::default();
        let entries = self.table("targets", "a table of targets", "an object of targets")?;
        for entry in entries {
            let Entry { key, node, .. } = entry;
            let place = format!("targets.{key}");
            let time = || {
                let expected = expected_duration(node, A_DURATION);
                duration(node).map(Some).ok_or_else(|| self.misshapen(node, &place, expected))
            };
            match key.as_str() {
                "start" => targets.start = time()?,
                "first" => targets.first = time()?,
                "warm" => targets.warm = time()?,
                "errors" => {
                    let share = match &node.value {
                        Value::String(text) => text.parse().ok(),
                        _ => None,
                    };
                    let expected = "a percentage from \"0%\" to \"100%\", such as \"1%\"";
                    targets.errors = Some(share.ok_or_else(|| self.misshapen(node, &place, expected))?);
                }
                _ => return Err(self.unknown("targets", entry, &Targets::NAMES)),
            }
        }
        Ok(targets)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::{json, only, toml};

    #[test]
    fn targets_are_read_from_both_formats() {
        let text = "[servers.s]\ncommand = 'x'\n[servers.s.targets]\nstart = '2s'\nfirst = '3s'\nwarm = '100ms'\nerrors = '0.5%'\n";
        let expected = Targets {
            start: Some(Duration::from_secs(2)),
            first: Some(Duration::from_secs(3)),
            warm: Some(Duration::from_millis(100)),
            errors: "0.5%".parse().ok(),
        };
        assert!(expected.errors.is_some());
        assert_eq!(only(toml(text)).targets, expected);
        let text = r#"{"servers": {"s": {"command": "x", "targets": {"warm": "5ms"}}}}"#;
        let expected = Targets { warm: Some(Duration::from_millis(5)), ..Targets::default() };
        assert_eq!(only(json(text)).targets, expected);
        assert_eq!(only(toml("[servers.s]\ncommand = 'x'\n")).targets, Targets::default());
    }

    #[test]
    fn a_wrong_target_says_what_it_must_be() {
        for (line, expected) in [
            ("targets = 5", "'targets' of server 's' must be a table of targets, not a number"),
            (
                "targets = { cold = '1s' }",
                "unknown key 'cold' in 'targets' of server 's': it is one of start, first, warm, errors",
            ),
            (
                "targets = { warm = 100 }",
                "'targets.warm' of server 's' must be a duration longer than zero such as \"20s\", not a number",
            ),
            (
                "targets = { warm = '0s' }",
                "'targets.warm' of server 's' must be a duration longer than zero such as \"20s\", not another string",
            ),
            (
                "targets = { errors = 1 }",
                "'targets.errors' of server 's' must be a percentage from \"0%\" to \"100%\", such as \"1%\", not a number",
            ),
            ("targets = { errors = '101%' }", "such as \"1%\", not another string"),
        ] {
            let error = toml(&format!("[servers.s]\nbuiltin = 'x'\n{line}\n")).expect_err(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
