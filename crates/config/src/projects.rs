//! The projects between which a server's calls are routed: their folders, and the words that
//! describe them. [`crate::project_file`] reads what a file in a project says about it.

use std::path::Path;

use belljar_model::{Affinity, KeyPiece, PathRules, Project, Projects};

use crate::{
    error::{ConfigErrorKind, Located},
    project_file,
    server::Server,
    tree::{Entry, Node, Value, check_unique},
};

/// The keys of a project.
pub(crate) const KEYS: &[&str] = &["path", "file", "languages", "concerns", "hints", "default"];

const A_NAME: &str = "a name without '/', '\\' or a control character that is not '..', '-' or empty";
const ITS_KEY: &str =
    "one argument in braces such as \"{project}\", not named 'context' or 'projects', where the server has 'projects'";

impl Server<'_> {
    /// The projects of a server with this key and these rules for paths.
    pub(crate) fn projects(
        &self,
        affinity: Option<&Affinity>,
        paths: Option<&PathRules>,
    ) -> Result<Option<Projects>, Located> {
        let Some(entry) = self.get("projects") else { return Ok(None) };
        let (Some(affinity), Some(key)) = (affinity, self.get("key")) else {
            let server = crate::error::shown(self.name);
            return Err(ConfigErrorKind::MisplacedKey { server, key: "projects", needs: "key" }.at(entry.offset));
        };
        let pieces = affinity.pieces();
        let [KeyPiece::Argument(argument)] = pieces.as_slice() else {
            return Err(self.misshapen(&key.node, "key", ITS_KEY));
        };
        if [Projects::CONTEXT, Projects::SPREAD].contains(argument) {
            return Err(self.misshapen(&key.node, "key", ITS_KEY));
        }
        if let (Some(rules), Some(paths)) = (paths, self.get("paths"))
            && rules.arguments.iter().any(|name| name == argument)
        {
            let expected = "without the argument of 'key' in its 'arguments': that one names a project";
            return Err(self.expected(&paths.node, "paths", expected));
        }
        let entries = self.table("projects", "a table of projects", "an object of projects")?;
        if entries.is_empty() || entries.len() > Projects::MOST {
            return Err(self.expected(&entry.node, "projects", "a table with 1 to 10000 projects"));
        }
        let mut projects = Projects { argument: (*argument).to_owned(), ..Projects::default() };
        for entry in entries {
            let (project, is_default) = self.project(entry)?;
            if is_default && projects.default.replace(project.name.clone()).is_some() {
                let expected = "false, or absent: another project is the default already";
                return Err(self.expected(&entry.node, format_args!("projects.{}.default", entry.key), expected));
            }
            projects.all.push(project);
        }
        Ok(Some(projects))
    }

    fn project(&self, entry: &Entry) -> Result<(Project, bool), Located> {
        let name = &entry.key;
        let place = format!("projects.{name}");
        if !is_name(name) {
            return Err(self.expected(&entry.node, &place, A_NAME));
        }
        let Value::Table(entries) = &entry.node.value else {
            return Err(self.expected(&entry.node, &place, "a table such as {path = \"shop\", hints = [\"basket\"]}"));
        };
        check_unique(entries)?;
        let mut project = Project { name: name.clone(), ..Project::default() };
        let (mut file, mut is_default) = (None, false);
        for entry in entries {
            let (key, node) = (format!("{place}.{}", entry.key), &entry.node);
            match entry.key.as_str() {
                "path" => project.path = Some(self.reader.directory.join(self.filled(node, &key)?)),
                "file" => file = Some((node, self.reader.directory.join(self.filled(node, &key)?))),
                "languages" => project.languages = self.terms(node, &key)?,
                "concerns" => project.concerns = self.terms(node, &key)?,
                "hints" => project.hints = self.terms(node, &key)?,
                "default" => match node.value {
                    Value::Boolean(boolean) => is_default = boolean,
                    _ => return Err(self.expected(node, &key, "true or false")),
                },
                _ => return Err(self.unknown(&place, entry, KEYS)),
            }
        }
        if let Some((_, file)) = file {
            let field = self.field(format_args!("{place}.file"));
            // The files in a project's folder are not always the owner's: an error in one affects
            // only that project.
            let added = project_file::add(&mut project, &file);
            project.fault = added.err().map(|problem| format!("{field} names a file that cannot be used: {problem}"));
        }
        Ok((project, is_default))
    }

    fn filled(&self, node: &Node, key: &str) -> Result<String, Located> {
        let text = self.expanded(node, key)?;
        self.not_empty(text, node, key)
    }

    fn terms(&self, node: &Node, key: &str) -> Result<Vec<String>, Located> {
        let expected = "an array of at most 256 texts, each of one to eight words and at most 200 bytes";
        let terms = self.texts(node, key)?;
        let is_usable = terms.len() <= Project::MOST_TERMS && terms.iter().all(|term| project_file::is_term(term));
        if is_usable { Ok(terms) } else { Err(self.expected(node, key, expected)) }
    }
}

/// Whether a text can be a project's name, which is used in the command line, the environment and
/// the folder of a process.
fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let is_one =
        matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(part)), None) if part == name);
    let is_safe = !name.starts_with('-') && !name.contains('\\') && !name.contains(char::is_control);
    is_one && is_safe && name.len() <= Project::NAME_BYTES
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::{only, toml};

    const KEYED: &str = "[servers.s]\ncommand = 'x'\nkey = '{project}'\n";

    fn projects(text: &str) -> Projects {
        only(toml(&format!("{KEYED}{text}"))).life.projects.expect("projects")
    }

    #[test]
    fn projects_are_read_in_their_order() {
        let read = projects(
            "[servers.s.projects.web]\npath = 'sub'\nlanguages = ['TypeScript']\nhints = ['storefront']\n\
             [servers.s.projects.core]\npath = '/srv/core'\nconcerns = ['unit price']\ndefault = true\n",
        );
        assert_eq!(read.names().collect::<Vec<_>>(), ["web", "core"]);
        assert_eq!((read.argument.as_str(), read.default.as_deref()), ("project", Some("core")));
        let web = read.get("web").expect("it is there");
        assert_eq!(web.path.as_deref(), Some(Path::new("/etc/belljar/sub")));
        assert_eq!((&web.languages, &web.hints), (&vec!["TypeScript".to_owned()], &vec!["storefront".to_owned()]));
        assert!(projects("projects = { a = {} }\n").get("a").is_some_and(|project| project.path.is_none()));
    }

    #[test]
    fn what_projects_cannot_be_is_said() {
        for (text, expected) in [
            (
                "[servers.s]\ncommand = 'x'\nprojects = { a = {} }\n",
                "'projects' of server 's' has no meaning without 'key'",
            ),
            (
                "[servers.s]\ncommand = 'x'\nkey = '{a}/{b}'\nprojects = { a = {} }\n",
                "'key' of server 's' must be one argument in braces",
            ),
            (
                "[servers.s]\ncommand = 'x'\nkey = '{context}'\nprojects = { a = {} }\n",
                "'key' of server 's' must be one argument in braces",
            ),
            (
                "[servers.s]\ncommand = 'x'\nkey = '{p}'\npaths = { arguments = ['p'] }\nprojects = { a = {} }\n",
                "'paths' of server 's' must be without the argument of 'key'",
            ),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (projects, expected) in [
            ("{}", "'projects' of server 's' must be a table with 1 to 10000 projects"),
            ("{ '../a' = {} }", "'projects.../a' of server 's' must be a name"),
            ("{ '-a' = {} }", "must be a name"),
            ("{ '' = {} }", "must be a name"),
            ("{ a = 1 }", "'projects.a' of server 's' must be a table"),
            ("{ a = { word = 'x' } }", "unknown key 'word' in 'projects.a' of server 's'"),
            ("{ a = { hints = 'x' } }", "'projects.a.hints' of server 's' must be an array"),
            ("{ a = { hints = ['(.*)'] } }", "'projects.a.hints' of server 's' must be an array of at most 256 texts"),
            ("{ a = { path = '' } }", "'projects.a.path' of server 's' is empty"),
            ("{ a = { default = true }, b = { default = true } }", "another project is the default already"),
        ] {
            let error = toml(&format!("{KEYED}projects = {projects}\n")).expect_err(projects);
            assert!(error.contains(expected), "{projects}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_in_a_project_says_what_the_owner_does_not() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join("shop/.serena")).expect("a folder");
        fs::create_dir_all(root.join("shop/backend")).expect("a folder");
        fs::create_dir_all(root.join("outside")).expect("a folder");
        symlink(root.join("outside"), root.join("shop/escape")).expect("a link");
        let file = root.join("shop/.serena/project.yml");
        let named = |text: &str, more: &str| {
            fs::write(&file, text).expect("it is written");
            toml(&format!("{KEYED}projects = {{ a = {{ file = '{}'{more} }} }}\n", file.display()))
        };
        let project_of = |config| {
            let projects = only(config).life.projects.expect("projects");
            projects.get("a").cloned().expect("it is there")
        };
        let project = |text: &str, more: &str| {
            let project = project_of(named(text, more));
            assert_eq!(project.fault, None);
            project
        };
        // The error affects this project, and no other part of the configuration.
        let fault = |text: &str| project_of(named(text, "")).fault.expect(text);
        let real = "# of Serena\nproject_name: \"shop\"\nlanguages:\n- go\n- typescript\nencoding: utf-8\nignored_paths: []\nls_specific_settings: {go: {a: [1, {b: 2}]}}\n";
        let read = project(real, ", hints = ['basket']");
        assert_eq!(
            (read.languages, read.hints),
            (vec!["go".to_owned(), "typescript".to_owned()], vec!["basket".to_owned()])
        );
        assert_eq!((read.path, read.within), (Some(root.join("shop")), None));
        let read = project("path: backend\nlanguage: go\nconcerns: [checkout, 'unit price']\nhints: [basket]\n", "");
        assert_eq!((read.path, read.within), (Some(root.join("shop/backend")), Some(root.join("shop"))));
        assert_eq!(read.concerns, ["checkout", "unit price"]);
        // The owner's settings take precedence.
        let read = project("path: ../outside\nhints: [theirs]\n", ", path = '/srv/own', hints = ['own']");
        assert_eq!((read.path, read.hints), (Some("/srv/own".into()), vec!["own".to_owned()]));
        for (text, expected) in [
            ("path: ../outside\n", "leads out of"),
            ("path: escape\n", "leads out of"),
            ("path: /etc\n", "leads out of"),
            ("path: nothing\n", "cannot be resolved"),
            ("path: [a]\n", "'path' is not a text"),
            ("hints: {a: b}\n", "'hints' is not a list of texts"),
            ("hints: ['***']\n", "'hints' has a text that is not one to eight words"),
            ("hints: [\n", "it is not YAML"),
            ("a: b: c\n", "it is not YAML"),
            ("- a\n", "it is not a mapping"),
            ("hints: &a [x]\nconcerns: *a\n", "it has an alias"),
        ] {
            let error = fault(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let long = format!("hints:\n{}", "- word\n".repeat(300));
        assert!(fault(&long).contains("'hints' has more than 256"));
        let large = format!("# {}\n", "x".repeat(70_000));
        assert!(fault(&large).contains("65536"));
        let deep = format!("other: {}{}\n", "[".repeat(20_000), "]".repeat(20_000));
        let _ = named(&deep, "");
        fs::remove_file(&file).expect("it is there");
        let gone = format!("{KEYED}projects = {{ a = {{ file = '{}' }} }}\n", file.display());
        let gone = project_of(toml(&gone)).fault.expect("it is gone");
        assert!(gone.starts_with("'projects.a.file' of server 's' names a file that cannot be used"), "{gone}");
        fs::write(root.join("outside/secret.yml"), "hints: [secret]\n").expect("it is written");
        symlink(root.join("outside/secret.yml"), &file).expect("a link");
        let text = format!("{KEYED}projects = {{ a = {{ file = '{}' }} }}\n", file.display());
        assert!(project_of(toml(&text)).fault.expect("a link").contains("leads out of"));
    }
}
