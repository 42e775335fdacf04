//! The command's side of the socket.

use std::{io, path::PathBuf, time::Duration};

use futures::{SinkExt as _, StreamExt as _};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec};

use crate::{
    Address, DaemonError, PROTOCOL, ReadHalf, User, WriteHalf, platform,
    protocol::{Cancel, Greet, Id, MAX_LINE_BYTES, Response, Sent},
    requests::{Hello, Method},
};

/// How long a daemon may take to say hello. It takes a millisecond, unless the daemon is stuck. A
/// daemon that was killed hangs up only when the system has ended its last thread, which may be
/// waiting for the disk.
const GREETING: Duration = Duration::from_secs(30);
/// The longest answer: a result of the largest size, as text and as structured data.
const MAX_ANSWER_BYTES: usize = 4 * MAX_LINE_BYTES;

/// A connection to a daemon, for one request at a time.
pub struct DaemonClient {
    lines: FramedRead<ReadHalf, LinesCodec>,
    requests: FramedWrite<WriteHalf, LinesCodec>,
    address: Address,
    hello: Hello,
    last: i64,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The socket cannot be connected to.
    #[error("the daemon's socket {} cannot be used: {source}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Somebody else listens on the socket.
    #[error("the process behind {} belongs to user {owner}, and not to user {user}", path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// The owner of its process.
        owner: User,
        /// The current user.
        user: User,
    },
    /// The daemon's greeting is missing or invalid.
    #[error(transparent)]
    Greeting(#[from] RequestError),
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The daemon refused, and gave a reason.
    #[error(transparent)]
    Refused(#[from] DaemonError),
    /// The daemon ended or was killed before it answered.
    #[error("the daemon ended before it had answered '{method}'")]
    Ended {
        /// The method that was requested.
        method: String,
    },
    /// The connection broke.
    #[error("the connection to the daemon broke: {0}")]
    Io(#[from] io::Error),
    /// The daemon's answer is malformed.
    #[error("the daemon's answer to '{method}' cannot be understood: {reason}")]
    Malformed {
        /// The method that was requested.
        method: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The daemon sends no greeting.
    #[error("the daemon has not answered '{method}' for {} s", waited.as_secs())]
    Silent {
        /// The method that was requested.
        method: String,
        /// How long we waited.
        waited: Duration,
    },
}

impl DaemonClient {
    /// Connects to the daemon at `address`, or returns `None` if none listens.
    ///
    /// # Errors
    /// [`ConnectError`], if something other than a daemon of belljar is there.
    pub async fn connect(address: &Address) -> Result<Option<Self>, ConnectError> {
        let path = address.socket();
        let fault = |source| ConnectError::Socket { path: path.clone(), source };
        let Some(connection) = platform::connect(&path).await.map_err(fault)? else { return Ok(None) };
        let user = platform::user().map_err(fault)?;
        let owner = platform::peer(&connection).map_err(fault)?;
        if owner != user {
            return Err(ConnectError::Foreign { path, owner, user });
        }
        let (reading, writing) = platform::split(connection);
        let mut client = Self {
            lines: FramedRead::new(reading, LinesCodec::new_with_max_length(MAX_ANSWER_BYTES)),
            requests: FramedWrite::new(writing, LinesCodec::new()),
            address: address.clone(),
            hello: Hello { protocol: 0, version: String::new(), fingerprint: String::new(), pid: 0 },
            last: 0,
        };
        let spoken = Greet { protocol: PROTOCOL };
        let greeting = client.ask(&spoken);
        match timeout(GREETING, greeting).await {
            Ok(Ok(hello)) => client.hello = hello,
            // The daemon was about to end when we connected.
            Ok(Err(RequestError::Ended { .. } | RequestError::Io(_))) => return Ok(None),
            Ok(Err(fault)) => return Err(fault.into()),
            Err(_) => {
                return Err(RequestError::Silent { method: Greet::NAME.to_owned(), waited: GREETING }.into());
            }
        }
        Ok(Some(client))
    }

    /// Where the daemon is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What the daemon reports about itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Sends a request, and waits for the answer.
    ///
    /// # Errors
    /// [`RequestError`], if the daemon refuses, is gone, or answers in another form.
    pub async fn ask<M: Method>(&mut self, asked: &M) -> Result<M::Answer, RequestError> {
        self.ask_until(asked, std::future::pending()).await
    }

    /// Sends a request, and waits for the answer. If `cancelled` completes first, the daemon is
    /// told to cancel; its answer then reports what has been done.
    ///
    /// # Errors
    /// [`RequestError`], if the daemon refuses, is gone, or answers in another form.
    ///
    /// # Cancellation
    /// Dropping the future makes the connection unusable for another request; dropping the client
    /// cancels at the daemon.
    pub async fn ask_until<M: Method>(
        &mut self,
        asked: &M,
        cancelled: impl Future<Output = ()>,
    ) -> Result<M::Answer, RequestError> {
        let answer = self.request_until(M::NAME, asked, cancelled).await?;
        parsed(M::NAME, &answer)
    }

    /// The same, given a method's name, for an answer of any type.
    pub(crate) async fn request_until(
        &mut self,
        method: &str,
        params: &impl Serialize,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Box<RawValue>, RequestError> {
        self.last += 1;
        let id = self.last;
        self.send(&Sent::request(id, method, params)).await?;
        let mut cancelled = std::pin::pin!(cancelled);
        let mut told = false;
        loop {
            let line = tokio::select! {
                line = self.lines.next() => line,
                () = cancelled.as_mut(), if !told => {
                    told = true;
                    self.send(&Sent::notification("cancel", Cancel { id: Id::Number(id) })).await?;
                    continue;
                }
            };
            let malformed = |reason: String| RequestError::Malformed { method: method.to_owned(), reason };
            let line = match line {
                Some(Ok(line)) => line,
                Some(Err(tokio_util::codec::LinesCodecError::MaxLineLengthExceeded)) => {
                    return Err(malformed(format!("it has more than {MAX_ANSWER_BYTES} bytes")));
                }
                Some(Err(tokio_util::codec::LinesCodecError::Io(error))) => return Err(ended(error, method)),
                None => return Err(RequestError::Ended { method: method.to_owned() }),
            };
            let response: Response = serde_json::from_str(&line).map_err(|error| malformed(error.to_string()))?;
            match response {
                // An error without an id is about the connection as a whole.
                Response { id: None, error: Some(fault), .. } => return Err(fault.into()),
                Response { id: Some(Id::Number(other)), .. } if other != id => {}
                Response { error: Some(fault), .. } => return Err(fault.into()),
                Response { result: Some(result), .. } => return Ok(result),
                Response { .. } => return Err(malformed("it has neither a result nor an error".to_owned())),
            }
        }
    }

    async fn send(&mut self, message: &Sent<'_, impl Serialize>) -> Result<(), RequestError> {
        let line = serde_json::to_string(message).map_err(io::Error::other)?;
        match self.requests.send(line).await {
            Ok(()) => Ok(()),
            Err(tokio_util::codec::LinesCodecError::Io(error)) => {
                // A daemon that rejected us gave the reason before it hung up.
                match self.lines.next().await {
                    Some(Ok(line)) => match serde_json::from_str(&line) {
                        Ok(Response { error: Some(fault), .. }) => Err(fault.into()),
                        _ => Err(error.into()),
                    },
                    _ => Err(ended(error, message.method)),
                }
            }
            Err(error) => Err(io::Error::other(error).into()),
        }
    }
}

/// Parses an answer.
fn parsed<T: DeserializeOwned>(method: &str, answer: &RawValue) -> Result<T, RequestError> {
    serde_json::from_str(answer.get())
        .map_err(|error| RequestError::Malformed { method: method.to_owned(), reason: error.to_string() })
}

/// Treats a connection that the other side has closed as the end of the daemon.
fn ended(error: io::Error, method: &str) -> RequestError {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
            RequestError::Ended { method: method.to_owned() }
        }
        _ => RequestError::Io(error),
    }
}
