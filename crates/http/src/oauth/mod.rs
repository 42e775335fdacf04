//! An OAuth resource server: accepts tokens signed by an authorization server that the owner chose.
//!
//! `token` reads a token and checks its claims, `keys` checks its signature, `issuer` fetches the
//! keys, and `principal` names its subject. This file combines them, and has the document and the
//! challenges by which clients find out where to get a token.
//!
//! Only tokens for this server are accepted. The contents of a token never cause a request: keys
//! come from the issuer that the owner named, at a bounded rate.

mod issuer;
mod keys;
mod principal;
#[cfg(test)]
mod tests;
mod token;

use std::{pin::Pin, sync::Arc, time::SystemTime};

use serde_json::{Value, json};
use url::Url;

use crate::{Principal, Scope};
use issuer::Issuer;
use token::{Expected, SignedToken};

pub(crate) use token::Rejected;

/// The path of the document about a protected resource; the path of the resource follows it.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// The scopes that clients are told to request. `admin` is not among them: only an owner can grant
/// it.
const ASKED: [Scope; 3] = [Scope::Search, Scope::RunReadOnly, Scope::Run];
/// The scopes that a client needs for everything that this server is for.
const USUAL: [Scope; 2] = [Scope::Search, Scope::Run];

/// A fetched document, or why there is none.
pub type Document<'d> = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send + 'd>>;

/// Fetches documents of the authorization server. It must bound their size and time, follow no
/// redirect, and connect to no address that the issuer must not lead to.
pub trait Documents: Send + Sync + 'static {
    /// The document at a URL; an error if the answer is not a success.
    fn get<'d>(&'d self, url: &'d str) -> Document<'d>;
}

/// The scopes that a tool needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The tool's name.
    pub tool: &'static str,
    /// The scope without which a call is refused.
    pub least: Scope,
    /// The scope that a client is told to request in that case.
    pub asked: Scope,
}

/// What the owner has configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthOptions {
    /// The authorization server, exactly as its tokens name it.
    pub issuer: String,
    /// The URL under which clients know this server: the audience of its tokens.
    pub resource: String,
    /// The prefix of the names of scopes in tokens.
    pub scope_prefix: String,
    /// What each tool needs.
    pub needs: &'static [Need],
}

/// What is wrong with the options.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{url}' is not a URL with a host")]
pub struct NotAUrl {
    /// The invalid URL.
    pub url: String,
}

/// Why a token is rejected.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The token is invalid.
    Rejected(Rejected),
    /// The token was signed by the issuer's key, and is invalid for another reason.
    NotGood(Rejected),
    /// There are no keys to check it.
    Unavailable,
}

/// This server as an OAuth resource: it accepts the tokens of an issuer.
pub struct ResourceServer {
    issuer: Issuer,
    options: OAuthOptions,
    /// The host of the resource.
    host: String,
    /// The path of the document about it, and the document's URL.
    metadata: (String, String),
    /// The suffix of a subject in the names of principals.
    realm: String,
}

impl ResourceServer {
    /// A resource that gets keys through `documents`. Must be created within a runtime, because a
    /// task fetches the keys.
    ///
    /// # Errors
    /// [`NotAUrl`].
    pub fn new(options: OAuthOptions, documents: Arc<dyn Documents>) -> Result<Self, NotAUrl> {
        let issuer = url(&options.issuer)?;
        let resource = url(&options.resource)?;
        let path = match resource.path() {
            "/" => WELL_KNOWN.to_owned(),
            path => format!("{WELL_KNOWN}{path}"),
        };
        let metadata = resource.join(&path).map_err(|_| NotAUrl { url: options.resource.clone() })?;
        Ok(Self {
            realm: principal::realm(&options.issuer, &issuer),
            issuer: Issuer::new(options.issuer.clone(), &issuer, documents),
            host: resource.host_str().unwrap_or_default().to_owned(),
            metadata: (metadata.path().to_owned(), metadata.into()),
            options,
        })
    }

    /// The name of a subject of the issuer.
    pub fn principal_of(&self, subject: &str) -> String {
        principal::name(subject, &self.realm)
    }

    /// The host of the resource, which is allowed in `Host`.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The path of the document about this resource.
    pub(crate) fn metadata_path(&self) -> &str {
        &self.metadata.0
    }

    /// That document: RFC 9728.
    pub(crate) fn metadata(&self) -> Value {
        json!({
            "resource": self.options.resource,
            "authorization_servers": [self.options.issuer],
            "scopes_supported": ASKED.map(|scope| self.shown(scope)),
            "bearer_methods_supported": ["header"],
        })
    }

    /// The challenge for a client without a valid token.
    pub(crate) fn challenge(&self, rejected: Option<&Rejected>) -> String {
        let error =
            rejected.map_or(String::new(), |why| format!("error=\"invalid_token\", error_description=\"{why}\", "));
        let scopes = USUAL.map(|scope| self.shown(scope)).join(" ");
        format!("Bearer {error}resource_metadata=\"{}\", scope=\"{scopes}\"", self.metadata.1)
    }

    /// The challenge for a client whose token lacks a scope.
    pub(crate) fn challenge_for_more(&self, asked: &[Scope]) -> String {
        let scopes: Vec<String> = asked.iter().map(|scope| self.shown(*scope)).collect();
        format!(
            "Bearer error=\"insufficient_scope\", scope=\"{}\", resource_metadata=\"{}\"",
            scopes.join(" "),
            self.metadata.1
        )
    }

    /// The scopes that are missing for a call of this tool, or for any call.
    pub(crate) fn lacking(&self, principal: &Principal, tool: Option<&str>) -> Option<Vec<Scope>> {
        if principal.scopes().next().is_none() {
            return Some(USUAL.to_vec());
        }
        let need = self.options.needs.iter().find(|need| Some(need.tool) == tool)?;
        (!principal.may(need.least)).then(|| vec![need.asked])
    }

    /// The principal of a token.
    pub(crate) async fn principal(&self, token: &str) -> Result<Principal, Refusal> {
        let token = SignedToken::read(token).map_err(Refusal::Rejected)?;
        let (mut keys, round) = self.issuer.keys();
        let mut checked = keys.as_ref().map(|keys| keys.check(&token));
        if matches!(checked, None | Some(Err(Rejected::UnknownKey))) {
            keys = self.issuer.after(round).await;
            checked = keys.as_ref().map(|keys| keys.check(&token));
        }
        checked.ok_or(Refusal::Unavailable)?.map_err(Refusal::Rejected)?;
        let expected = Expected {
            issuer: &self.options.issuer,
            audience: &self.options.resource,
            now: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
        };
        let claims = token.claims(&expected).map_err(Refusal::NotGood)?;
        let prefix = self.options.scope_prefix.as_str();
        let scopes = claims.scopes().filter_map(|scope| scope.strip_prefix(prefix)?.parse().ok()).collect();
        Ok(Principal::of_issuer(&self.principal_of(claims.subject()), scopes, claims.until()))
    }

    /// A scope as tokens name it.
    fn shown(&self, scope: Scope) -> String {
        format!("{}{scope}", self.options.scope_prefix)
    }
}

/// Whether a text has the form of a signed token.
pub(crate) fn is_signed(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 2
}

fn url(text: &str) -> Result<Url, NotAUrl> {
    Url::parse(text).ok().filter(Url::has_host).ok_or_else(|| NotAUrl { url: text.to_owned() })
}
