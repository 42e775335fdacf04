//! Expands `${…}` in values, in one pass: the value of a variable is never expanded again.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    path::{MAIN_SEPARATOR_STR, Path},
};

use crate::error::{ConfigErrorKind, Field, shown};

/// The most bytes that all variables in one file may expand to. A value has some 100 bytes; without
/// a limit, a file that refers to a long one thousands of times would fill the memory.
pub const EXPANDED_BYTES: usize = 4 * 1024 * 1024;

/// The values that a configuration may refer to, supplied by the caller.
///
/// | written | becomes |
/// |---|---|
/// | `${NAME}`, `${env:NAME}` | the environment variable; an error where it is not set |
/// | `${NAME:-default}` | the same, or `default` where it is not set |
/// | `${userHome}` | [`Variables::home`] |
/// | `${workspaceFolder}`, `${workspaceFolderBasename}` | [`Variables::workspace`], its last part |
/// | `${pathSeparator}`, `${/}` | `/`, or `\` on Windows |
/// | `$${` | `${` itself |
#[derive(Clone, Copy)]
pub struct Variables<'a> {
    /// The value of an environment variable, if it is set. A name is made of letters, digits and
    /// `_ - . ( )`.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// The folder that the user works in.
    pub workspace: Option<&'a Path>,
}

/// Expands the values of one file.
pub(crate) struct Expander<'a> {
    variables: &'a Variables<'a>,
    remaining: Cell<usize>,
    /// Where unset variables are recorded, if they do not count as a fault.
    unset: Option<&'a RefCell<BTreeSet<String>>>,
}

/// Replaces an unset variable. It is valid wherever a variable may occur.
const STAND_IN: &str = "https://unset.invalid";

impl<'a> Expander<'a> {
    pub(crate) fn new(variables: &'a Variables<'a>) -> Self {
        Self { variables, remaining: Cell::new(EXPANDED_BYTES), unset: None }
    }

    /// The same for a text that is only checked: an unset variable is added to `unset`, and is not
    /// a fault.
    pub(crate) fn noting(variables: &'a Variables<'a>, unset: &'a RefCell<BTreeSet<String>>) -> Self {
        Self { unset: Some(unset), ..Self::new(variables) }
    }

    /// `text` with each `${…}` replaced. Errors name `field`.
    pub(crate) fn expand(&self, text: &str, field: &Field) -> Result<String, ConfigErrorKind> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                expanded.push_str(before);
                expanded.push_str("${");
                rest = after;
                continue;
            }
            let bad = |problem| ConfigErrorKind::BadReference { field: field.clone(), problem };
            let (reference, after) = after.split_once('}').ok_or_else(|| bad("without a '}'"))?;
            if reference.contains("${") {
                return Err(bad("inside another"));
            }
            let value = self.value(reference, field)?;
            let remaining = self.remaining.get().checked_sub(value.len());
            let too_long = || ConfigErrorKind::ExpandedTooLong { field: field.clone(), limit: EXPANDED_BYTES };
            self.remaining.set(remaining.ok_or_else(too_long)?);
            expanded.push_str(before);
            expanded.push_str(&value);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, reference: &str, field: &Field) -> Result<String, ConfigErrorKind> {
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        let folder = |variable, folder: Option<&Path>| match (folder.and_then(Path::to_str), default) {
            (Some(folder), _) => Ok(folder.to_owned()),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(ConfigErrorKind::NoFolder { field: field.clone(), variable }),
        };
        match name {
            // `is_folder` must know these names too.
            "userHome" => return folder("userHome", self.variables.home),
            "workspaceFolder" => return folder("workspaceFolder", self.variables.workspace),
            "workspaceFolderBasename" => {
                let name = self.variables.workspace.and_then(Path::file_name).map(Path::new);
                return folder("workspaceFolderBasename", name);
            }
            "pathSeparator" | "/" => return Ok(MAIN_SEPARATOR_STR.to_owned()),
            _ => {}
        }
        let name = match name.split_once(':') {
            None => name,
            Some(("env", name)) => name,
            Some(("input", input)) => return Err(ConfigErrorKind::Input { field: field.clone(), input: shown(input) }),
            Some((kind @ ("command" | "config"), _)) => {
                return Err(ConfigErrorKind::EditorVariable { field: field.clone(), kind: kind.to_owned() });
            }
            Some(_) => return Err(unnamed(field)),
        };
        if !is_variable_name(name) {
            return Err(unnamed(field));
        }
        match ((self.variables.environment)(name), default) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => match self.unset {
                Some(unset) => {
                    unset.borrow_mut().insert(name.to_owned());
                    Ok(STAND_IN.to_owned())
                }
                None => Err(ConfigErrorKind::Unset { field: field.clone(), variable: name.to_owned() }),
            },
        }
    }
}

/// The error does not quote the text, which may be part of a secret that merely looks like a
/// reference.
fn unnamed(field: &Field) -> ConfigErrorKind {
    ConfigErrorKind::BadReference { field: field.clone(), problem: "that is not followed by the name of a variable" }
}

/// Whether `${NAME}` is something other than an environment variable.
pub(crate) fn is_folder(name: &str) -> bool {
    matches!(name, "userHome" | "workspaceFolder" | "workspaceFolderBasename" | "pathSeparator" | "/")
}

fn is_variable_name(name: &str) -> bool {
    const LONGEST: usize = 128;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'(' | b')');
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "A" => Some("alpha".to_owned()),
            "EMPTY" => Some(String::new()),
            "LOOP" => Some("${A}".to_owned()),
            "ProgramFiles(x86)" => Some("programs".to_owned()),
            "BIG" => Some("b".repeat(1024 * 1024)),
            _ => None,
        }
    }

    fn expanding(text: &str) -> Result<String, String> {
        let home = Path::new("/home/ada");
        let workspace = Path::new("/projects/engine");
        let variables = Variables { environment: &environment, home: Some(home), workspace: Some(workspace) };
        let field = Field::of_server("fs", "args[0]");
        Expander::new(&variables).expand(text, &field).map_err(|fault| fault.to_string())
    }

    #[test]
    fn each_form_of_reference_is_replaced() {
        for (text, expected) in [
            ("", ""),
            ("plain $A {A} $", "plain $A {A} $"),
            ("${A}", "alpha"),
            ("<${A}-${env:A}>", "<alpha-alpha>"),
            ("${A:-other}", "alpha"),
            ("${NONE:-other}", "other"),
            ("${NONE:-}", ""),
            ("${NONE:-a:-b}", "a:-b"),
            ("${env:NONE:-other}", "other"),
            ("${EMPTY:-other}", ""),
            ("${ProgramFiles(x86)}", "programs"),
            ("${userHome}/x", "/home/ada/x"),
            ("${workspaceFolder}", "/projects/engine"),
            ("${workspaceFolderBasename}", "engine"),
            ("a${/}b${pathSeparator}c", &format!("a{MAIN_SEPARATOR_STR}b{MAIN_SEPARATOR_STR}c")),
            ("$${A}", "${A}"),
            ("$$${A} ${A}", "$${A} alpha"),
        ] {
            assert_eq!(expanding(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_a_variable_holds_is_not_expanded_again() {
        assert_eq!(expanding("${LOOP}").as_deref(), Ok("${A}"));
    }

    #[test]
    fn an_error_names_the_variable_the_server_and_the_field() {
        for (text, expected) in [
            (
                "${NONE}",
                "variable 'NONE' is not set, and 'args[0]' of server 'fs' needs it: set it, or write a default as in ${NAME:-default}",
            ),
            (
                "${env:NONE}",
                "variable 'NONE' is not set, and 'args[0]' of server 'fs' needs it: set it, or write a default as in ${NAME:-default}",
            ),
            (
                "${input:api-key}",
                "'args[0]' of server 'fs' asks for the input 'api-key', but belljar does not prompt for inputs: write ${NAME} and set that variable",
            ),
            (
                "${command:pick}",
                "'args[0]' of server 'fs' refers to a variable that only an editor knows, '${command:…}': write ${NAME} or the value itself",
            ),
            (
                "${A",
                "'args[0]' of server 'fs' has a '${' without a '}': write ${NAME} for a variable, and $${ for a plain '${'",
            ),
            (
                "${NONE:-${A}}",
                "'args[0]' of server 'fs' has a '${' inside another: write ${NAME} for a variable, and $${ for a plain '${'",
            ),
            (
                "${}",
                "'args[0]' of server 'fs' has a '${' that is not followed by the name of a variable: write ${NAME} for a variable, and $${ for a plain '${'",
            ),
        ] {
            assert_eq!(expanding(text).expect_err(text), expected);
        }
    }

    #[test]
    fn what_merely_looks_like_a_reference_is_not_quoted() {
        for text in ["pass${w rd}", "${hunter:2}", "${pä}", &format!("${{{}}}", "h".repeat(200))] {
            let message = expanding(text).expect_err(text);
            assert!(message.contains("not followed by the name of a variable"), "{message}");
            assert!(!message.contains("w rd") && !message.contains("hunter") && !message.contains("pä"), "{message}");
        }
    }

    #[test]
    fn folders_that_are_unknown_are_an_error_or_their_default() {
        let variables = Variables { environment: &environment, home: None, workspace: None };
        let (expander, field) = (Expander::new(&variables), Field::of_server("fs", "cwd"));
        let message = expander.expand("${userHome}", &field).expect_err("no home").to_string();
        assert_eq!(
            message,
            "'cwd' of server 'fs' refers to ${userHome}, which is not known here: write the path itself"
        );
        assert_eq!(expander.expand("${workspaceFolder:-/tmp}", &field).expect("the default"), "/tmp");
    }

    #[test]
    fn variables_cannot_fill_the_memory() {
        assert_eq!(expanding(&"${BIG}".repeat(4)).expect("just enough").len(), EXPANDED_BYTES);
        assert!(expanding(&"${BIG}".repeat(5)).expect_err("too long").contains("more than 4194304 bytes"));
    }
}
