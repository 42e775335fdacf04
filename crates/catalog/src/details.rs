//! Details of a tool beside its signature: the rest of its description, and its arguments.
//!
//! An answer shows them for its first tools, as far as there is room, so that nobody has to ask
//! again before the first call.

use serde_json::Value;

use crate::{
    bounds::{ARGUMENT_CHARS, ARGUMENTS_CHARS, DETAIL_CHARS, INDEXED_PARAMETERS},
    text::one_line,
    tool::Tool,
    words::folded,
};

/// The lines, each bounded; empty if there is nothing to add.
pub(crate) fn details(tool: &Tool) -> Vec<String> {
    [rest_of_description(tool), arguments(tool)].into_iter().flatten().collect()
}

fn rest_of_description(tool: &Tool) -> Option<String> {
    let said = one_line(tool.definition().description.as_deref()?, DETAIL_CHARS + tool.summary().len());
    // If the summary was cut, the rest does not start where it ends.
    let rest = said.strip_prefix(tool.summary())?.trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn arguments(tool: &Tool) -> Option<String> {
    let properties = tool.definition().input_schema.get("properties")?.as_object()?;
    let mut said = String::new();
    for (name, property) in properties.iter().take(INDEXED_PARAMETERS) {
        let Some(description) = property.get("description").and_then(Value::as_str) else { continue };
        let description = one_line(description, ARGUMENT_CHARS);
        if description.is_empty() || folded(&description) == folded(name) {
            continue;
        }
        let name = one_line(name, ARGUMENT_CHARS);
        let more = format!("{}{name}: {description}", if said.is_empty() { "" } else { "; " });
        if said.len() + more.len() > ARGUMENTS_CHARS {
            break;
        }
        said.push_str(&more);
    }
    (!said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{catalog, real};

    #[test]
    fn what_a_signature_does_not_say_of_arguments_is_said() {
        let catalog = real();
        let of = |path: &str| details(catalog.lookup(path).expect("a tool"));
        let [times] = &of("time.convert_time")[..] else { panic!("one line") };
        for part in [
            "source_timezone: Source IANA timezone name (e.g., 'America/New_York'",
            "; time: Time to convert in 24-hour format (HH:MM); ",
        ] {
            assert!(times.contains(part), "{times}");
        }
        let listing = of("filesystem.list_directory");
        assert!(listing[0].contains("[FILE] and [DIR] prefixes"), "{listing:?}");
        assert_eq!(of("git.git_status"), Vec::<String>::new());
    }

    #[test]
    fn every_line_is_bounded_and_safe() {
        let long = "x".repeat(100_000);
        let tools = format!(
            r#"[{{"name": "t", "description": "One. {long}\u001b[2J", "inputSchema": {{"properties": {{"a": {{"description": "{long}"}}, "{long}": {{"description": "b\u001b"}}}}}}}}]"#
        );
        let catalog = catalog(&[("s", &tools)]);
        let lines = details(catalog.tools().next().expect("a tool"));
        assert_eq!(lines.len(), 2);
        for line in lines {
            assert!(line.chars().count() <= ARGUMENTS_CHARS && !line.contains('\u{1b}'), "{line}");
        }
    }
}
