//! Servers over HTTP: streamable HTTP, and the older HTTP with SSE.
//!
//! A remote server is one task. It takes rmcp's messages as the text that would go to a child's
//! stdin, and returns the server's as the text that would come from its stdout. So everything that
//! bounds and tolerates a child applies here too. Nothing is parsed into types, no request is made
//! twice, and no header goes to another origin.

pub(crate) mod builder;
mod client;
mod events;
mod message;
pub(crate) mod mirrored;
pub(crate) mod origin;
pub(crate) mod reach;
pub(crate) mod remote;
mod session;
mod sse;

use std::sync::Arc;

use belljar_model::{HttpEndpoint, HttpProtocol, Redactor, ServerSpec};
use cap_std::fs::Dir;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    auth::Login,
    error::RemoteError,
    framing::messages::Frame,
    http::{
        client::HttpClient,
        message::Outgoing,
        remote::{Loss, Remote},
        session::{End, Session},
    },
    limits,
    options::Options,
};

/// rmcp's side of a remote server.
pub(crate) struct Ends {
    pub(crate) remote: Remote,
    pub(crate) incoming: mpsc::Receiver<Frame>,
    pub(crate) outgoing: mpsc::Sender<Vec<u8>>,
}

/// Prepares a connection to `endpoint`, which reads at most `limit` bytes of one message. The first
/// message opens it.
pub(crate) fn open(
    spec: &ServerSpec,
    endpoint: &HttpEndpoint,
    options: &Options,
    limit: usize,
    redactor: Arc<Redactor>,
) -> Result<Ends, RemoteError> {
    let agent = agent(options);
    let login = |folder: &Arc<Dir>| Login::new(folder.clone(), endpoint, &agent, redactor.clone());
    let login = options.credentials.as_ref().map(login).transpose()?;
    let login = login.filter(Login::is_there);
    let client = Arc::new(HttpClient::new(&spec.name, endpoint, &agent, login)?.with_redactor(redactor));
    let (outgoing, messages) = mpsc::channel(limits::OUTGOING_MESSAGES);
    let (frames, incoming) = mpsc::channel(limits::INCOMING_FRAMES);
    let (closing, ended, loss) = (CancellationToken::new(), CancellationToken::new(), Loss::default());
    let talk = talk(client, endpoint.protocol, frames, limit, messages, closing.clone());
    let (end, reason) = (ended.clone().drop_guard(), loss.clone());
    let task = tokio::spawn(async move {
        if let Some(fault) = talk.await {
            tracing::debug!("lost: {fault}");
            let _ = reason.set(fault);
        }
        drop(end);
    });
    let remote = Remote { closing, ended, _task: AbortOnDropHandle::new(task), loss };
    Ok(Ends { remote, incoming, outgoing })
}

/// The name that belljar gives itself at servers.
pub(crate) fn agent(options: &Options) -> String {
    format!("{}/{}", options.client_name, options.client_version)
}

/// Talks to a server until either side ends, and returns the reason if it was not ours.
async fn talk(
    client: Arc<HttpClient>,
    protocol: HttpProtocol,
    frames: mpsc::Sender<Frame>,
    limit: usize,
    mut messages: mpsc::Receiver<Vec<u8>>,
    closing: CancellationToken,
) -> Option<RemoteError> {
    let first = if protocol == HttpProtocol::Sse {
        None
    } else {
        let session = Session::new(client.clone(), frames.clone(), limit);
        match session.run(&mut messages, &closing).await {
            End::Over(fault) => return fault,
            End::Refused { fault, message } => {
                let is_initialize =
                    Outgoing::read(&message).is_some_and(|message| message.method.as_deref() == Some("initialize"));
                // The older protocol always begins with `initialize`.
                if protocol == HttpProtocol::Streamable || !is_initialize {
                    return Some(fault);
                }
                Some((fault, message))
            }
        }
    };
    let (refusal, message) = first.unzip();
    let older = sse::run(client, frames, limit, message, &mut messages, &closing).await.err()?;
    // For a server that speaks neither, the first error is reported.
    Some(refusal.filter(|_| older.is_refusal()).unwrap_or(older))
}
