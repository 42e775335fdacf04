//! The authorization server of `[http.oauth]`: what tools need, and how its documents are got.

use std::sync::Arc;

use belljar_config::OAuthSettings;
use belljar_http::{Document, Need, OAuthOptions, ResourceServer, Scope};
use belljar_upstream::auth;

use super::definitions::{EXECUTE, SEARCH};
use crate::failure::Failure;

/// What the two tools need. A run of somebody who may only read is held to tools that only read.
const NEEDS: &[Need] = &[
    Need { tool: SEARCH, least: Scope::Search, asked: Scope::Search },
    Need { tool: EXECUTE, least: Scope::RunReadOnly, asked: Scope::Run },
];

/// The documents of an issuer, as servers' logins are got: within the same bounds.
struct Documents(auth::Documents);

impl belljar_http::Documents for Documents {
    fn get<'d>(&'d self, url: &'d str) -> Document<'d> {
        Box::pin(async move { self.0.get(url).await.map_err(|fault| fault.to_string()) })
    }
}

/// belljar as one that takes tokens of this authorization server.
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
