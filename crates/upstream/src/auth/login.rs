//! Logging in: the page that the user opens, and the token for the returned code.

use std::{io, sync::Arc, time::Duration};

use belljar_model::{HttpEndpoint, Redactor};
use cap_std::fs::Dir;
use rmcp::transport::{AuthError, AuthorizationManager, AuthorizationSession, auth::AuthorizationRequest};
use tokio::{net::TcpListener, time::timeout};
use url::Url;

use crate::{
    auth::{
        callback,
        http::Http,
        scope,
        store::Store,
        token::{resource, said},
    },
    error::RemoteError,
    http::origin::{host_of, is_private_way},
    redaction::redactor_of_endpoint,
};

/// How long a user may take to log in.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum LoginError {
    /// The server's URL does not allow a login.
    #[error("{fault}")]
    Server { fault: RemoteError },
    /// There is no free local port.
    #[error("the browser has no local address to return to after the login: {error}")]
    Loopback { error: io::Error },
    /// The server says nothing about logins.
    #[error("{host} does not say where to log in")]
    NoLogin { host: String },
    /// The server leads its login to an address that it must not use.
    #[error("{host} leads its login to {place}, which is on this machine or in a private network")]
    Private { host: String, place: String },
    /// Something between the server and its authorization server does not follow the protocol.
    #[error("the login at {host} is not possible: {reason}")]
    Failed { host: String, reason: String },
    /// The authorization server sent the user back without a code.
    #[error("the login was refused: {reason}")]
    Refused { reason: String },
    /// The user did not come back.
    #[error("the browser did not come back from the login within {LONGEST:?}")]
    TimedOut,
}

impl LoginError {
    /// A hint, if there is one.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Server { fault } => fault.hint(),
            Self::Loopback { .. } => "choose another 'port' in the server's 'oauth', or none".to_owned(),
            Self::NoLogin { .. } => "give its token in 'headers': Authorization = \"Bearer ${TOKEN}\"".to_owned(),
            Self::Private { .. } => {
                "if that place is your own, and the server is to lead there, give the server oauth = { allow_private = true }; \
                 addresses of this machine and link-local ones stay closed to it"
                    .to_owned()
            }
            Self::Failed { .. } => {
                "if programs must be registered there by hand, set 'client_id' in the server's 'oauth'".to_owned()
            }
            Self::Refused { .. } | Self::TimedOut => return None,
        })
    }
}

/// A login that waits for its user.
pub struct Pending {
    session: AuthorizationSession,
    listener: TcpListener,
    host: String,
    redactor: Redactor,
    state: String,
    http: Arc<Http>,
    store: Store,
}

/// Finds out where to log in at `endpoint`, and registers belljar there. The tokens will be in
/// `folder`.
///
/// # Errors
/// [`LoginError`], and then nothing was written.
pub async fn begin(endpoint: &HttpEndpoint, folder: Arc<Dir>, agent: &str) -> Result<Pending, LoginError> {
    let url = Url::parse(&endpoint.url)
        .map_err(|error| LoginError::Server { fault: RemoteError::Url { reason: error.to_string() } })?;
    let host = host_of(&url);
    if !is_private_way(&url) {
        return Err(LoginError::Server { fault: RemoteError::Insecure { host } });
    }
    let http = Http::new(agent, &url, endpoint.oauth.allow_private, endpoint.proxy.as_deref())
        .map_err(|fault| LoginError::Server { fault })?;
    let http = Arc::new(http);
    let redactor = redactor_of_endpoint(endpoint);
    let failed = |error: AuthError| error_of(&http, &host, said(&error, &redactor));
    let manager = AuthorizationManager::new_with_oauth_http_client(resource(&endpoint.url), http.clone()).await;
    let mut manager = manager.map_err(&failed)?;
    let store = Store::of(folder, &endpoint.url);
    let scopes = scopes(endpoint, &store).await;
    manager.set_credential_store(store.clone());
    let challenge = http.challenge(&url).await;
    let resolution = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(&failed)?;
    if !resolution.source.is_discovered() {
        // To rmcp, a refused address looks like a missing document.
        return Err(match http.refused() {
            Some(place) => LoginError::Private { host, place },
            None => LoginError::NoLogin { host },
        });
    }
    manager.set_metadata(resolution.metadata);

    let listener = TcpListener::bind(("127.0.0.1", endpoint.oauth.port.unwrap_or(0))).await;
    let listener = listener.map_err(|error| LoginError::Loopback { error })?;
    let port = listener.local_addr().map_err(|error| LoginError::Loopback { error })?.port();
    let mut request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}{}", callback::PATH))
        .with_client_name("belljar")
        .with_scopes(scopes)
        .with_initial_scope_selection();
    if let Some(document) = &endpoint.oauth.metadata {
        request = request.with_client_metadata_url(document);
    }
    if let Some(id) = &endpoint.oauth.id {
        request = request.with_preregistered_client(id);
        if let Some(secret) = &endpoint.oauth.secret {
            request = request.with_client_secret(secret);
        }
    }
    let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| failed(error))?;
    let page = Url::parse(session.get_authorization_url()).ok().filter(is_private_way);
    let state =
        page.and_then(|page| page.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned()));
    let state = state.ok_or_else(|| LoginError::Failed {
        host: host.clone(),
        reason: "the page to log in on is neither reached by https nor on this machine".to_owned(),
    })?;
    Ok(Pending { session, listener, host, redactor, state, http, store })
}

/// The requested scopes: those that the owner has chosen; else those of the previous login and
/// those that the server wanted beyond them; else, if it wanted none, those that it names.
async fn scopes(endpoint: &HttpEndpoint, store: &Store) -> Vec<String> {
    if !endpoint.oauth.scopes.is_empty() {
        return endpoint.oauth.scopes.clone();
    }
    let read = async {
        let wanted = store.wanted().await?;
        let mut all = if wanted.is_empty() { Vec::new() } else { store.granted().await? };
        all.extend(wanted);
        Ok::<_, io::Error>(scope::scopes(all.iter().map(String::as_str)))
    };
    // An unreadable login is replaced by the one that begins here.
    read.await.unwrap_or_default()
}

impl Pending {
    /// The scopes that the page asks for.
    pub fn scopes(&self) -> Vec<String> {
        let scopes = Url::parse(self.url()).ok().and_then(|page| {
            page.query_pairs().find(|(name, _)| name == "scope").map(|(_, scopes)| scopes.into_owned())
        });
        scope::scopes(scopes.iter().flat_map(|scopes| scopes.split_ascii_whitespace()))
    }

    /// The page for the user to open.
    pub fn url(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits for the user to come back, and stores the resulting token.
    ///
    /// # Errors
    /// [`LoginError`], and then the stored tokens are unchanged.
    ///
    /// # Cancellation
    /// Dropping the future abandons the login.
    pub async fn finish(self) -> Result<(), LoginError> {
        let exchange = async |returned: String| {
            let exchanged = self.session.handle_callback_url(&returned).await;
            exchanged.map(|_| ()).map_err(|error| said(&error, &self.redactor))
        };
        match timeout(LONGEST, callback::wait(&self.listener, &self.state, exchange)).await {
            Err(_) => Err(LoginError::TimedOut),
            Ok(Ok(())) => {
                if let Err(error) = self.store.forget_wanted() {
                    tracing::warn!("the scopes that the server wanted could not be removed: {error}");
                }
                Ok(())
            }
            Ok(Err(callback::CallbackError::Refused(reason))) => Err(LoginError::Refused { reason }),
            Ok(Err(callback::CallbackError::Exchange(reason))) => Err(error_of(&self.http, &self.host, reason)),
            Ok(Err(callback::CallbackError::Io(error))) => Err(LoginError::Loopback { error }),
        }
    }
}

/// The meaning of a failure: a refused address, if there was one, is more precise than rmcp's
/// error.
fn error_of(http: &Http, host: &str, reason: String) -> LoginError {
    let host = host.to_owned();
    match http.refused() {
        Some(place) => LoginError::Private { host, place },
        None => LoginError::Failed { host, reason },
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pending").field("host", &self.host).finish_non_exhaustive()
    }
}
