//! The `[effects]` of belljar.toml: settings for tools by their effect, for servers that do not set
//! them themselves.

use std::time::Duration;

use belljar_model::{Effect, EffectDefault, EffectDefaults, Repeat};

use crate::{
    error::{ConfigErrorKind, Located},
    life::{duration, expected_duration, named},
    tree::{Entry, Node, Value, check_unique, expected},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["read_only", "mutating", "external"];
/// The keys for each effect.
pub(crate) const EFFECT_KEYS: &[&str] = &["call_timeout", "repeat"];

/// Reads the defaults.
pub(crate) fn read(node: &Node) -> Result<EffectDefaults, Located> {
    let mut defaults = EffectDefaults::default();
    for entry in table("effects", node)? {
        let Ok(effect) = entry.key.parse::<Effect>() else {
            return Err(ConfigErrorKind::unknown_key("effects", &entry.key, KEYS).at(entry.offset));
        };
        *defaults.of_mut(effect) = of_effect(effect, &entry.node)?;
    }
    Ok(defaults)
}

fn of_effect(effect: Effect, node: &Node) -> Result<EffectDefault, Located> {
    let place = format!("effects.{effect}");
    let mut default = EffectDefault::default();
    for entry in table(&place, node)? {
        match entry.key.as_str() {
            "call_timeout" => default.call_timeout = Some(timeout(&place, &entry.node)?),
            "repeat" => default.repeat = Some(repeat(effect, &place, &entry.node)?),
            _ => return Err(ConfigErrorKind::unknown_key(&place, &entry.key, EFFECT_KEYS).at(entry.offset)),
        }
    }
    Ok(default)
}

fn timeout(place: &str, node: &Node) -> Result<Duration, Located> {
    let wanted = expected_duration(node, "a duration longer than zero such as \"20s\"");
    duration(node).ok_or_else(|| expected(&format!("{place}.call_timeout"), wanted, node))
}

/// Reads `repeat`. Read-only tools can be repeated as such; other tools only if they are
/// idempotent.
fn repeat(effect: Effect, place: &str, node: &Node) -> Result<Repeat, Located> {
    let (wanted, refused) = match effect {
        Effect::ReadOnly => ("one of never, read_only, idempotent", None),
        Effect::Mutating | Effect::External => ("one of never, idempotent", Some(Repeat::ReadOnly)),
    };
    named(node, &Repeat::ALL)
        .filter(|repeat| Some(*repeat) != refused)
        .ok_or_else(|| expected(&format!("{place}.repeat"), wanted, node))
}

fn table<'n>(name: &str, node: &'n Node) -> Result<&'n [Entry], Located> {
    let Value::Table(entries) = &node.value else { return Err(expected(name, "a table", node)) };
    check_unique(entries)?;
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{only, toml};

    const TABLES: &str = "[effects.read_only]\ncall_timeout = '5s'\nrepeat = 'read_only'\n\
                          [effects.external]\ncall_timeout = '1m'\nrepeat = 'idempotent'\n";

    #[test]
    fn what_holds_by_effect_holds_where_nothing_is_said_of_the_server() {
        let life = |lines: &str| only(toml(&format!("{TABLES}[servers.s]\ncommand = 'x'\n{lines}"))).life;
        let of = |lines: &str, effect| {
            let life = life(lines);
            (life.call_timeout_of(effect).map(|timeout| timeout.as_secs()), life.repeat_of(effect))
        };
        assert_eq!(of("", Effect::ReadOnly), (Some(5), Repeat::ReadOnly));
        assert_eq!(of("", Effect::Mutating), (None, Repeat::Never));
        assert_eq!(of("", Effect::External), (Some(60), Repeat::Idempotent));
        assert_eq!(of("call_timeout = '9s'", Effect::ReadOnly), (Some(9), Repeat::ReadOnly));
        assert_eq!(of("repeat = 'never'", Effect::External), (Some(60), Repeat::Never));
        assert_eq!(of("repeat = 'never'", Effect::ReadOnly), (Some(5), Repeat::Never));
    }

    #[test]
    fn what_cannot_hold_by_effect_is_refused_with_its_place() {
        for (text, message) in [
            ("effects = 3", "line 1, column 11: 'effects' must be a table, not a number"),
            ("[effects.reading]", "line 1, column 10: unknown key 'reading' in effects"),
            ("[effects]\nmutating = 1", "line 2, column 12: 'effects.mutating' must be a table, not a number"),
            ("[effects.external]\nretry = 1", "line 2, column 1: unknown key 'retry' in effects.external"),
            ("[effects.external]\ncall_timeout = 5", "line 2, column 16: 'effects.external.call_timeout' must be a"),
            (
                "[effects.mutating]\nrepeat = 'read_only'",
                "line 2, column 10: 'effects.mutating.repeat' must be one of never, idempotent, not another string",
            ),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
