//! The task that sends messages: questions that come at the same time share a message, and
//! temporary failures are retried.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use belljar_approvals::Question;
use rand::{TryRngCore as _, rngs::OsRng};
use reqwest::{Client, StatusCode, Url, redirect::Policy};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use crate::{DELIVERY_HEADER, SIGNATURE_HEADER, Settings, message, signature};

/// How long to wait for further questions to include in the same message.
const GATHER: Duration = Duration::from_millis(200);
/// The most questions in one message.
const TOGETHER: usize = 100;
/// The most messages that are being sent at a time.
const AT_ONCE: usize = 4;
/// How long the address may take to answer one of them.
const ANSWER: Duration = Duration::from_secs(5);
/// The pauses before a failed message is sent again.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// The client: it follows no redirect, and uses no proxy from the environment.
pub(crate) fn client(agent: &str) -> Result<Client, reqwest::Error> {
    // The first provider installed in this process stays, and any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(agent)
        .no_proxy()
        .referer(false)
        .redirect(Policy::none())
        .connect_timeout(ANSWER)
        .timeout(ANSWER)
        .build()
}

/// Sends everything until there are no more senders.
pub(crate) async fn send_all(
    client: Client,
    url: Url,
    settings: Settings,
    mut questions: mpsc::Receiver<Box<Question>>,
) {
    let mut under_way = JoinSet::new();
    while let Some(first) = questions.recv().await {
        let mut together = vec![first];
        let until = Instant::now() + GATHER;
        while together.len() < TOGETHER {
            tokio::select! {
                next = questions.recv() => match next {
                    Some(next) => together.push(next),
                    None => break,
                },
                () = sleep_until(until) => break,
            }
        }
        for body in message::bodies(&together, settings.arguments) {
            while under_way.len() >= AT_ONCE {
                let _ = under_way.join_next().await;
            }
            let (client, url, secret) = (client.clone(), url.clone(), settings.secret.clone());
            under_way.spawn(async move { deliver(&client, &url, &secret, body).await });
        }
        while under_way.try_join_next().is_some() {}
    }
    while under_way.join_next().await.is_some() {}
}

/// How a failed attempt ended.
struct Failed {
    why: String,
    may_pass: bool,
}

async fn deliver(client: &Client, url: &Url, secret: &str, body: Vec<u8>) {
    let name = match OsRng.try_next_u64() {
        Ok(bits) => format!("{bits:016x}"),
        Err(error) => return tracing::warn!("a message to the webhook could not be named: {error}"),
    };
    let mut pauses = AGAIN.into_iter();
    loop {
        let Err(failed) = attempt(client, url, secret, &name, &body).await else { return };
        match pauses.next().filter(|_| failed.may_pass) {
            Some(pause) => {
                tracing::info!("the webhook did not take a message, and gets it again: {}", failed.why);
                sleep(pause).await;
            }
            None => return tracing::warn!("the webhook did not take a message, which is lost: {}", failed.why),
        }
    }
}

async fn attempt(client: &Client, url: &Url, secret: &str, name: &str, body: &[u8]) -> Result<(), Failed> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let request = client
        .post(url.clone())
        .header("content-type", "application/json")
        .header(DELIVERY_HEADER, name)
        .header(SIGNATURE_HEADER, signature(secret, seconds, body))
        .body(body.to_vec());
    // The address must not be shown: its path is often a secret.
    let answer = request.send().await.map_err(|error| Failed { why: why(&error.without_url()), may_pass: true })?;
    // The body of the answer is not read.
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let may_pass = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let why = if status.is_redirection() {
        format!("it answered {status}, and no redirect is followed")
    } else {
        format!("it answered {status}")
    };
    Err(Failed { why, may_pass })
}

/// An error together with its causes.
fn why(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
