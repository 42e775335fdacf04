//! HTTP with SSE, as in revision 2024-11-05: one stream of events brings all messages of the
//! server, and its first event says where to send ours. Such a session cannot be resumed: when its
//! stream ends, it is over.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Method, Response,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    error::RemoteError,
    framing::messages::Frame,
    http::{
        client::{HttpClient, content_type},
        events::{Event, Events},
        message::{self, Outgoing},
    },
    limits,
};

/// How long the first event may take, which depends on nothing else.
const ENDPOINT: Duration = Duration::from_secs(10);

/// Opens the stream, and sends `first` and the messages of `outgoing` until there are no more, or
/// the stream ends.
///
/// # Errors
/// If there is no such stream, or it is lost.
pub(crate) async fn run(
    client: Arc<HttpClient>,
    frames: mpsc::Sender<Frame>,
    limit: usize,
    first: Option<Vec<u8>>,
    outgoing: &mut mpsc::Receiver<Vec<u8>>,
    closing: &CancellationToken,
) -> Result<(), RemoteError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let response = client.send(Method::GET, client.url(), headers, None).await?;
    if !response.status().is_success() {
        return Err(client.refused(response).await);
    }
    if content_type(&response).as_deref() != Some("text/event-stream") {
        return Err(client.not_mcp("its answer is not a stream of events"));
    }
    let mut stream = Stream { client: client.clone(), response, events: Events::new(limit) };
    let endpoint = endpoint(&mut stream).await?;

    let mut posts = JoinSet::new();
    if let Some(first) = first {
        post(client.clone(), endpoint.clone(), frames.clone(), first).await?;
    }
    let mut reading = Box::pin(read(stream, frames.clone()));
    loop {
        tokio::select! {
            biased;
            () = closing.cancelled() => return Ok(()),
            end = &mut reading => return end,
            Some(posted) = posts.join_next(), if !posts.is_empty() => {
                if let Ok(Err(fault)) = posted {
                    return Err(fault);
                }
            }
            body = outgoing.recv() => {
                let Some(body) = body else { return Ok(()) };
                let post = post(client.clone(), endpoint.clone(), frames.clone(), body.clone());
                if Outgoing::read(&body).is_some_and(|message| message.method.as_deref() == Some("notifications/initialized")) {
                    // No other message may overtake it.
                    tokio::select! {
                        posted = post => posted?,
                        end = &mut reading => return end,
                    }
                } else {
                    posts.spawn(post);
                }
            }
        }
    }
}

struct Stream {
    client: Arc<HttpClient>,
    response: Response,
    events: Events,
}

impl Stream {
    async fn next(&mut self) -> Result<Option<Event>, RemoteError> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            let piece = self.response.chunk().await;
            match piece.map_err(|error| RemoteError::of(error, self.client.host()))? {
                Some(piece) => self.events.feed(&piece),
                None => return Ok(None),
            }
        }
    }
}

/// Waits for the event that says where to send messages, which must be the server's own origin:
/// they carry its secrets.
async fn endpoint(stream: &mut Stream) -> Result<Url, RemoteError> {
    let client = stream.client.clone();
    let end = Instant::now() + ENDPOINT;
    loop {
        let event = timeout_at(end, stream.next()).await;
        let event =
            event.map_err(|_| client.not_mcp(format!("it did not say within {ENDPOINT:?} where messages go")))??;
        match event {
            Some(Event::Whole { name, data }) if name == "endpoint" => {
                let place = String::from_utf8_lossy(&data);
                let url = client
                    .url()
                    .join(place.trim())
                    .map_err(|_| client.not_mcp("it said where messages go, and that is not a URL"))?;
                if url.origin() != client.url().origin() {
                    return Err(client.not_mcp("it sends messages to another origin"));
                }
                return Ok(url);
            }
            Some(_) => {}
            None => return Err(client.not_mcp("it did not say where messages go")),
        }
    }
}

async fn read(mut stream: Stream, frames: mpsc::Sender<Frame>) -> Result<(), RemoteError> {
    loop {
        let frame = match stream.next().await? {
            Some(Event::Whole { name, data }) if name == "message" => Frame::Whole(data),
            Some(Event::Whole { .. }) => continue,
            Some(Event::TooLong(id)) => Frame::TooLong(id),
            None => {
                let (host, reason) = (stream.client.host().to_owned(), "its stream of events ended".to_owned());
                return Err(RemoteError::Broken { host, reason });
            }
        };
        if frames.send(frame).await.is_err() {
            return Ok(());
        }
    }
}

async fn post(
    client: Arc<HttpClient>,
    url: Url,
    frames: mpsc::Sender<Frame>,
    body: Vec<u8>,
) -> Result<(), RemoteError> {
    let id = Outgoing::read(&body).filter(|message| message.method.is_some()).and_then(|message| message.id);
    let id = id.map(|id| id.get().to_owned());
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sending = timeout(limits::CONTROL_REQUEST, client.send(Method::POST, &url, headers, Some(body)));
    let fault = match sending.await {
        Ok(Ok(response)) if response.status().is_success() => return Ok(()),
        Ok(Ok(response)) => client.refused(response).await,
        Ok(Err(fault)) => return Err(fault),
        Err(_) => {
            RemoteError::Broken { host: client.host().to_owned(), reason: "it did not take a message".to_owned() }
        }
    };
    if let Some(id) = id {
        let _ = frames.send(Frame::Whole(message::failure(&id, &fault.to_string()))).await;
    }
    Ok(())
}
