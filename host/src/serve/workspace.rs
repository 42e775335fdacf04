//! The workspace of a client: it separates what different work keeps between runs.
//!
//! It keeps work in order, but it is not a protection, since each client names its own. A client of
//! the initialize era that declares roots is asked for them once per session, and again after they
//! have changed. A run that gets no answer in time has none, as if its client declared no roots,
//! and the next one asks again. The later revision has no requests from server to client.

#![expect(deprecated, reason = "roots are deprecated, and clients of today have them")]

use std::{
    path::{Component, PathBuf},
    sync::Arc,
    time::Duration,
};

use belljar_daemon::requests::MAX_WORKSPACE_BYTES;
use belljar_http::{Admission, AskedOnce};
use rmcp::{
    RoleServer,
    model::ListRootsResult,
    service::{NotificationContext, RequestContext},
};
use tokio::time::{error::Elapsed, timeout};
use url::Url;

use super::client;
use crate::{arguments::ServeArguments, environment};

/// How long a client has to report its roots, while its first run waits.
const DEADLINE: Duration = Duration::from_secs(2);
/// How many roots are examined until one can be a workspace.
const MAX_ROOTS: usize = 64;

/// The workspace of a server's clients, as its command says.
pub(crate) enum WorkspaceChoice {
    /// This one, whatever a client says.
    Named(String),
    /// The client's, or else this one.
    OrElse(String),
}

/// The workspaces of the clients.
#[derive(Clone)]
pub(super) struct Workspaces {
    choice: Arc<WorkspaceChoice>,
    /// Of the client on stdin and stdout.
    of_stdio: Arc<AskedOnce>,
}

impl WorkspaceChoice {
    /// The named workspace; or else the folder of a server on stdin and stdout, which its client
    /// has chosen. A server over HTTP has clients elsewhere.
    pub(crate) fn of(arguments: &ServeArguments) -> Self {
        match &arguments.workspace {
            Some(name) => Self::Named(name.clone()),
            None if arguments.is_over_http() => Self::OrElse(String::new()),
            None => Self::OrElse(environment::workspace()),
        }
    }
}

impl Workspaces {
    pub(super) fn new(choice: WorkspaceChoice) -> Self {
        Self { choice: Arc::new(choice), of_stdio: Arc::default() }
    }

    /// The first root of the client on stdin and stdout.
    pub(super) fn of_stdio(&self) -> Arc<AskedOnce> {
        self.of_stdio.clone()
    }

    /// The workspace of a request's client.
    pub(super) async fn of(&self, context: &RequestContext<RoleServer>) -> String {
        let otherwise = match &*self.choice {
            WorkspaceChoice::Named(name) => return name.clone(),
            WorkspaceChoice::OrElse(folder) => folder,
        };
        let has_roots = context.client_capabilities().is_some_and(|declared| declared.roots.is_some());
        if !has_roots || !client::takes_requests(context) {
            return otherwise.clone();
        }
        let asked = match Admission::of(context) {
            None => Some(&*self.of_stdio),
            Some(admission) => admission.workspace(),
        };
        let root = match asked {
            Some(asked) => asked.get_or_ask(first_root(context)).await.unwrap_or_else(|_| {
                tracing::info!("the client declares roots, but did not list them within {} s", DEADLINE.as_secs());
                None
            }),
            None => None,
        };
        root.map_or_else(|| otherwise.clone(), |root| root.to_string())
    }

    /// The roots of a client over HTTP have changed, so it is asked again. (The wire of stdin and
    /// stdout does that itself.)
    pub(super) fn have_changed(&self, context: &NotificationContext<RoleServer>) {
        if let Some(asked) = Admission::of_notification(context).and_then(Admission::workspace) {
            asked.forget();
        }
    }
}

async fn first_root(context: &RequestContext<RoleServer>) -> Result<Option<Arc<str>>, Elapsed> {
    Ok(match timeout(DEADLINE, context.peer.list_roots()).await? {
        Ok(roots) => first(roots),
        Err(error) => {
            tracing::info!("the client declares roots, but does not list them: {error}");
            None
        }
    })
}

/// The first of the roots that can be a workspace.
fn first(roots: ListRootsResult) -> Option<Arc<str>> {
    let names = roots.roots.into_iter().take(MAX_ROOTS).filter_map(|root| name_of(&root.uri));
    names.map(Arc::from).next()
}

/// A root's name: the path of a folder, as a command started there names it, or any other URI as it
/// is.
fn name_of(uri: &str) -> Option<String> {
    if uri.trim().is_empty() || uri.len() > MAX_WORKSPACE_BYTES {
        return None;
    }
    let path = Url::parse(uri).ok().filter(|url| url.scheme() == "file").and_then(|url| url.to_file_path().ok());
    let Some(path) = path else { return Some(uri.to_owned()) };
    let path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    Some(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use rmcp::model::Root;

    use super::*;

    #[test]
    fn the_root_of_a_client_has_the_name_of_its_folder() {
        for (uri, name) in [
            ("file:///home/ann/shop", Some("/home/ann/shop")),
            ("file:///home/ann/shop/", Some("/home/ann/shop")),
            ("file:///home/ann/my%20shop/.", Some("/home/ann/my shop")),
            ("ssh://host/shop", Some("ssh://host/shop")),
            ("not a uri", Some("not a uri")),
            (" ", None),
        ] {
            assert_eq!(name_of(uri).as_deref(), name, "{uri}");
        }
        assert_eq!(name_of(&format!("file:///{}", "a".repeat(MAX_WORKSPACE_BYTES))), None);
    }

    #[test]
    fn a_root_that_cannot_be_a_workspace_is_passed_over() {
        let roots = ["", "file:///a", "file:///b"].map(Root::new);
        assert_eq!(first(ListRootsResult::new(roots.into())).as_deref(), Some("/a"));
        assert_eq!(first(ListRootsResult::new(Vec::new())), None);
    }
}
