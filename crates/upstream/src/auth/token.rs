//! The login for requests: its token, renewed when it is no longer valid.

use std::sync::Arc;

use belljar_model::{HttpEndpoint, OAuthClient, Redactor};
use cap_std::fs::Dir;
use rmcp::transport::{AuthError, AuthorizationManager, auth::OAuthClientConfig};
use url::Url;

use crate::{
    auth::{
        http::Http,
        store::{Store, Stored},
    },
    error::RemoteError,
    redaction::redacted_line,
};

/// The login at one server, as its requests need it.
pub(crate) struct Login {
    store: Store,
    url: String,
    client: OAuthClient,
    http: Arc<Http>,
    /// Gets the tokens, to mask them.
    redactor: Arc<Redactor>,
}

impl Login {
    /// The login whose tokens are in `folder`, if there are any.
    pub(crate) fn new(
        folder: Arc<Dir>,
        endpoint: &HttpEndpoint,
        agent: &str,
        redactor: Arc<Redactor>,
    ) -> Result<Self, RemoteError> {
        let server = Url::parse(&endpoint.url).map_err(|error| RemoteError::Url { reason: error.to_string() })?;
        let http = Http::new(agent, &server, endpoint.oauth.allow_private, endpoint.proxy.as_deref())?;
        let (store, url) = (Store::of(folder, &endpoint.url), endpoint.url.clone());
        Ok(Self { store, url, client: endpoint.oauth.clone(), http: Arc::new(http), redactor })
    }

    /// Whether somebody has logged in. Reads a file.
    pub(crate) fn is_there(&self) -> bool {
        self.store.is_there()
    }

    /// A valid token, renewed if necessary; `None` if nobody has logged in.
    ///
    /// # Errors
    /// The error for a login that is no longer valid.
    pub(crate) async fn token(&self) -> Result<Option<String>, String> {
        match self.stored().await? {
            None => Ok(None),
            Some(stored) if stored.is_fresh() => Ok(Some(stored.token)),
            Some(stored) => self.renewed(&stored.token).await.map(Some),
        }
    }

    /// A token in place of `old`, which is no longer valid. Another process may have renewed it
    /// already.
    ///
    /// # Errors
    /// As [`Login::token`].
    pub(crate) async fn renewed(&self, old: &str) -> Result<String, String> {
        let _guard = self.store.lock().await.map_err(|error| error.to_string())?;
        let stored = self.stored().await?.ok_or("its token is gone")?;
        if stored.token != old && stored.is_fresh() {
            return Ok(stored.token);
        }
        let failed = |error: AuthError| match self.http.refused() {
            Some(place) => format!("it leads to {place}, at an address where this server may not lead"),
            None => said(&error, &self.redactor),
        };
        let manager = self.manager().await.map_err(failed)?;
        manager.refresh_token().await.map_err(failed)?;
        Ok(self.stored().await?.ok_or("its token is gone")?.token)
    }

    /// Stores the scopes that the server wants for the user's next login.
    pub(crate) async fn wants(&self, scopes: &[String]) {
        if let Err(error) = self.store.want(scopes).await {
            tracing::warn!("the scopes that the server wants could not be saved: {error}");
        }
    }

    /// Whether the owner has chosen the scopes to request.
    pub(crate) fn has_chosen_scopes(&self) -> bool {
        !self.client.scopes.is_empty()
    }

    async fn stored(&self) -> Result<Option<Stored>, String> {
        let stored = self.store.read().await.map_err(|error| error.to_string())?;
        for secret in stored.iter().flat_map(Stored::secrets) {
            self.redactor.learn(secret);
        }
        Ok(stored)
    }

    /// rmcp's part, which finds out where tokens are renewed, and refuses if that differs from
    /// before.
    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(resource(&self.url), self.http.clone()).await?;
        manager.set_credential_store(self.store.clone());
        if !manager.initialize_from_store().await? {
            return Err(AuthError::AuthorizationRequired);
        }
        if let (Some(id), Some(secret)) = (&self.client.id, &self.client.secret) {
            manager.configure_client(OAuthClientConfig::new(id, self.url.as_str()).with_client_secret(secret))?;
        }
        Ok(manager)
    }
}

/// The message for a failure. rmcp's texts contain addresses and the server's words; possible
/// secrets are removed.
pub(super) fn said(error: &AuthError, redactor: &Redactor) -> String {
    if let AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) = error {
        return "it cannot be renewed".to_owned();
    }
    redacted_line(&error.to_string(), 300, redactor)
}

/// A server's URL as the key of logins: without the name and the password before its host, which
/// libraries would log.
pub(super) fn resource(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return url.to_owned() };
    // Both can fail only if there is no host, and then there is nothing to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
