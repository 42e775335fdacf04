//! The projects of a server that has an instance for each: where a call's paths may lead, and which
//! project a path is in.

use std::{borrow::Cow, path::PathBuf};

use belljar_model::{PathRules, Projects, ServerSpec};
use serde_json::{Map, Value};

use crate::tools::paths;

/// The rules for the paths of a call with these arguments. If the owner has named no roots, paths
/// lead into the folder of the call's own project and nowhere else, so that a rule on the project
/// restricts them too. A project without a folder allows no paths.
pub(crate) fn rules<'r>(spec: &'r ServerSpec, arguments: &Map<String, Value>) -> Option<Cow<'r, PathRules>> {
    let rules = spec.life.paths.as_ref()?;
    let Some(projects) = spec.life.projects.as_ref().filter(|_| rules.roots.is_empty()) else {
        return Some(Cow::Borrowed(rules));
    };
    let own = arguments.get(&projects.argument).and_then(Value::as_str).and_then(|name| projects.get(name));
    Some(Cow::Owned(match own.and_then(|project| project.path.clone()) {
        Some(folder) => PathRules { roots: vec![folder], ..rules.clone() },
        None => PathRules { denied: vec![PathBuf::from("/")], ..rules.clone() },
    }))
}

/// The project whose folder contains `path`, or the innermost if they are nested. Blocks.
///
/// # Errors
/// It is not an absolute path, or cannot be resolved.
pub fn project_of(projects: &Projects, path: &str) -> Result<Option<String>, String> {
    let real = paths::absolute(path)?;
    let folders = projects.all.iter().filter_map(|project| Some((project, project.path.as_ref()?)));
    let around = folders.filter_map(|(project, folder)| {
        let folder = paths::real_path(folder).ok().filter(|folder| real.starts_with(folder))?;
        Some((folder.components().count(), &project.name))
    });
    // If two projects have the same folder, the first counts.
    let innermost = around.reduce(|one, other| if other.0 > one.0 { other } else { one });
    Ok(innermost.map(|(_, name)| name.clone()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use belljar_model::Project;

    use super::*;

    #[test]
    fn a_path_belongs_to_the_innermost_project_around_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        for sub in ["shop/backend/src", "tools", "out"] {
            fs::create_dir_all(root.join(sub)).expect("a folder");
        }
        symlink(root.join("out"), root.join("shop/escape")).expect("a link");
        let project = |name: &str, path: &str| Project {
            name: name.to_owned(),
            path: Some(root.join(path)),
            ..Project::default()
        };
        let all = vec![project("shop", "shop"), project("backend", "shop/backend"), project("gone", "gone")];
        let projects = Projects { argument: "project".to_owned(), all, default: None };
        let found = |path: &str| project_of(&projects, &root.join(path).to_string_lossy());
        assert_eq!(found("shop"), Ok(Some("shop".to_owned())));
        assert_eq!(found("shop/new/file"), Ok(Some("shop".to_owned())));
        assert_eq!(found("shop/backend/src"), Ok(Some("backend".to_owned())));
        assert_eq!(found("shop/escape"), Ok(None));
        assert_eq!(found("tools"), Ok(None));
        for path in ["relative", "", "/a/../b", "/a\u{0}b", "/a\nb"] {
            assert!(project_of(&projects, path).is_err(), "{path:?}");
        }
        assert!(project_of(&projects, &format!("/{}", "x".repeat(5_000))).is_err());
    }
}
