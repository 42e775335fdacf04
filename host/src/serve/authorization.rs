//! The authorization server of `[http.oauth]`: the tools' scopes, and how its documents are
//! fetched.

use std::sync::Arc;

use belljar_config::OAuthSettings;
use belljar_http::{Document, Need, OAuthOptions, ResourceServer, Scope};
use belljar_upstream::auth;

use super::definitions::{EXECUTE, SEARCH};
use crate::failure::Failure;

/// The scopes of the two tools. A run of a client that may only read is restricted to tools that
/// only read.
const NEEDS: &[Need] = &[
    Need { tool: SEARCH, least: Scope::Search, asked: Scope::Search },
    Need { tool: EXECUTE, least: Scope::RunReadOnly, asked: Scope::Run },
];

/// The documents of an issuer, fetched like those of servers' logins: within the same bounds.
struct Documents(auth::Documents);

impl belljar_http::Documents for Documents {
    fn get<'d>(&'d self, url: &'d str) -> Document<'d> {
        Box::pin(async move { self.0.get(url).await.map_err(|fault| fault.to_string()) })
    }
}

/// belljar as a resource server for this authorization server.
pub(super) fn resource_server(settings: &OAuthSettings) -> Result<ResourceServer, Failure> {
    let hint = "correct it in [http.oauth]";
    let agent = concat!("belljar/", env!("CARGO_PKG_VERSION"));
    let documents = auth::Documents::new(agent, &settings.issuer, settings.allow_private)
        .map_err(|fault| Failure::config(format!("the issuer cannot be asked: {fault}"), hint))?;
    let options = OAuthOptions {
        issuer: settings.issuer.clone(),
        resource: settings.resource.clone(),
        scope_prefix: settings.scope_prefix.clone(),
        needs: NEEDS,
    };
    ResourceServer::new(options, Arc::new(Documents(documents)))
        .map_err(|fault| Failure::config(fault.to_string(), hint))
}
