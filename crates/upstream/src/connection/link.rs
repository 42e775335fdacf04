//! A started child and our end of its pipes, whether it is a process or a server inside this one.

use std::sync::Arc;

use belljar_model::{Framing, Redactor, ServerSpec, Transport};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf},
    process::ChildStdout,
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time::timeout,
};
use tokio_util::{either::Either, sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    error::{Exit, RemoteError, StartError},
    framing::{messages::Messages, wire::Wire},
    http::{self, Ends, remote::Remote},
    limits,
    options::{BuiltIns, Options},
    process::{
        group::Group,
        running::Process,
        spawn::spawn,
        stderr::{self, Tail},
        walls,
    },
    redaction::redactor_of,
};

/// A child's end: its stdout, or the stream of a built-in server.
pub(crate) type Output = Either<ChildStdout, ReadHalf<DuplexStream>>;

/// The transport between rmcp and a child.
pub(crate) type LinkWire = Wire<Output>;

/// A started child. Dropping it ends the child at once.
pub(crate) struct Link {
    body: Body,
    redactor: Arc<Redactor>,
    tail: Tail,
    stderr_ended: CancellationToken,
    writer: Option<AbortHandle>,
    writing: CancellationToken,
    stalled: CancellationToken,
    tasks: JoinSet<()>,
}

enum Body {
    Process(Process),
    BuiltIn(AbortOnDropHandle<()>),
    Remote(Remote),
}

impl Link {
    /// Starts the child, or prepares the connection to a remote one.
    ///
    /// # Cancellation
    /// Dropping the future leaves nothing behind.
    pub(crate) async fn open(
        spec: &ServerSpec,
        options: &Options,
        built_ins: &BuiltIns,
    ) -> Result<(Self, LinkWire), StartError> {
        let redactor = Arc::new(redactor_of(spec));
        match &spec.transport {
            Transport::Stdio(command) => {
                let (process, pipes) = spawn(&walls::around(command, options)?, options).await?;
                let (mut link, wire) =
                    Self::new(spec, Body::Process(process), Either::Left(pipes.stdout), pipes.stdin, redactor.clone());
                let ended = link.stderr_ended.clone().drop_guard();
                let (server, tail): (Arc<str>, _) = (spec.name.as_str().into(), link.tail.clone());
                link.tasks.spawn(async move {
                    stderr::drain(server, pipes.stderr, tail, redactor).await;
                    drop(ended);
                });
                Ok((link, wire))
            }
            Transport::BuiltIn(name) => {
                const STREAM_BYTES: usize = 64 * 1024;
                let serve = built_ins.get(name).ok_or_else(|| StartError::UnknownBuiltIn { name: name.clone() })?;
                let (ours, theirs) = tokio::io::duplex(STREAM_BYTES);
                let server = AbortOnDropHandle::new(tokio::spawn(serve(theirs)));
                let (read, write) = tokio::io::split(ours);
                let (link, wire) = Self::new(spec, Body::BuiltIn(server), Either::Right(read), write, redactor);
                link.stderr_ended.cancel();
                Ok((link, wire))
            }
            Transport::Http(endpoint) => {
                let Ends { remote, incoming, outgoing } =
                    http::open(spec, endpoint, options, message_bytes(spec), redactor.clone())
                        .map_err(|fault| StartError::Remote { fault })?;
                let messages = Messages::Frames { incoming, last: Vec::new() };
                let wire = Wire::of(messages, outgoing, Framing::Lines).with_redactor(redactor.clone());
                Ok((Self::remote(remote, redactor), wire))
            }
            other => Err(StartError::TransportNotSupported { transport: other.as_str() }),
        }
    }

    fn new(
        spec: &ServerSpec,
        body: Body,
        read: Output,
        write: impl AsyncWrite + Send + Unpin + 'static,
        redactor: Arc<Redactor>,
    ) -> (Self, LinkWire) {
        let for_wire = redactor.clone();
        let (outgoing, messages) = mpsc::channel(limits::OUTGOING_MESSAGES);
        let (writing, stalled) = (CancellationToken::new(), CancellationToken::new());
        let mut tasks = JoinSet::new();
        let writer = tasks.spawn(write_messages(write, messages, writing.clone(), stalled.clone()));
        let link = Self {
            body,
            redactor,
            tail: Tail::default(),
            stderr_ended: CancellationToken::new(),
            writer: Some(writer),
            writing,
            stalled,
            tasks,
        };
        let wire = Wire::new(read, outgoing, spec.life.framing, message_bytes(spec));
        (link, wire.with_redactor(for_wire))
    }

    /// A link to a remote server: it needs no writing task, and has no stderr.
    fn remote(remote: Remote, redactor: Arc<Redactor>) -> Self {
        let stderr_ended = CancellationToken::new();
        stderr_ended.cancel();
        Self {
            body: Body::Remote(remote),
            redactor,
            tail: Tail::default(),
            stderr_ended,
            writer: None,
            writing: CancellationToken::new(),
            stalled: CancellationToken::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Masks the server's secrets in what it says.
    pub(crate) fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        match &self.body {
            Body::Process(process) => process.pid(),
            Body::BuiltIn(_) | Body::Remote(_) => None,
        }
    }

    /// The process group, if there is one.
    pub(crate) fn group(&self) -> Option<Arc<Group>> {
        match &self.body {
            Body::Process(process) => Some(process.group()),
            Body::BuiltIn(_) | Body::Remote(_) => None,
        }
    }

    /// Why a remote server was lost, once it is.
    pub(crate) fn loss(&self) -> Option<RemoteError> {
        match &self.body {
            Body::Remote(remote) => remote.loss.get().cloned(),
            Body::Process(_) | Body::BuiltIn(_) => None,
        }
    }

    /// Adds a task that lives as long as the link.
    pub(crate) fn own(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Waits until the child ends, or can no longer be written to.
    ///
    /// # Cancellation
    /// Nothing is lost.
    pub(crate) async fn ended(&mut self) -> Exit {
        tokio::select! {
            biased;
            exit = self.body.exited() => return exit,
            () = self.writing.cancelled() => {}
        }
        let broken = if self.stalled.is_cancelled() { Exit::Unresponsive } else { Exit::Closed };
        timeout(limits::EXIT_WAIT, self.body.exited()).await.unwrap_or(broken)
    }

    /// How the child ended, after its output has ended: it may still be about to exit.
    pub(crate) async fn ended_soon(&mut self) -> Exit {
        timeout(limits::EXIT_WAIT, self.body.exited()).await.unwrap_or(Exit::Closed)
    }

    /// The child's last lines on stderr.
    pub(crate) async fn last_words(&self) -> Vec<String> {
        // On a timeout a helper holds the pipe open, and the lines so far must suffice.
        let _ = timeout(limits::STDERR_WAIT, self.stderr_ended.cancelled()).await;
        self.words()
    }

    /// The child's last lines on stderr so far.
    pub(crate) fn words(&self) -> Vec<String> {
        match self.loss() {
            Some(fault) => vec![fault.to_string()],
            None => self.tail.lines(),
        }
    }

    /// Ends the child gently, within [`limits::STOP_LIMIT`].
    pub(crate) async fn stop(mut self) {
        // Ends the writing task, which closes the child's stdin.
        if let Some(writer) = &self.writer {
            writer.abort();
        }
        match &mut self.body {
            Body::Process(process) => {
                process.stop().await;
                // Its last lines are still logged, with the number of omitted ones.
                let _ = timeout(limits::STDERR_WAIT, self.stderr_ended.cancelled()).await;
            }
            Body::BuiltIn(server) => {
                let _ = timeout(limits::STDIN_GRACE, server).await;
            }
            Body::Remote(remote) => {
                remote.closing.cancel();
                // A server that does not respond in time is dropped.
                let _ = timeout(limits::STDIN_GRACE, remote.ended.cancelled()).await;
            }
        }
    }

    /// Kills the child and its helpers.
    pub(crate) async fn kill(mut self) {
        if let Body::Process(process) = &mut self.body {
            process.kill().await;
        }
    }
}

/// The longest message that is read from a child.
fn message_bytes(spec: &ServerSpec) -> usize {
    let result = usize::try_from(spec.life.max_response.as_u64()).unwrap_or(usize::MAX);
    result.saturating_add(limits::ENVELOPE_BYTES).min(limits::LINE_BYTES)
}

impl Body {
    async fn exited(&mut self) -> Exit {
        match self {
            Self::Process(process) => process.exited().await,
            Self::BuiltIn(server) if server.is_finished() => Exit::BuiltIn,
            Self::BuiltIn(server) => {
                let _ = server.await;
                Exit::BuiltIn
            }
            Self::Remote(remote) => {
                remote.ended.cancelled().await;
                Exit::Remote
            }
        }
    }
}

/// Writes messages to a child until there are no more, or it no longer takes them; `writing` is
/// then cancelled.
async fn write_messages(
    mut write: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
    writing: CancellationToken,
    stalled: CancellationToken,
) {
    let _writing = writing.drop_guard();
    while let Some(message) = messages.recv().await {
        let written = timeout(limits::WRITE_STALL, async {
            write.write_all(&message).await?;
            write.flush().await
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => {
                stalled.cancel();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_child_that_reads_nothing_is_given_up() {
        let (write, _unread) = tokio::io::duplex(8);
        let (outgoing, messages) = mpsc::channel(1);
        let (writing, stalled) = (CancellationToken::new(), CancellationToken::new());
        outgoing.try_send(vec![0; 100]).expect("there is room");
        write_messages(write, messages, writing.clone(), stalled.clone()).await;
        assert!(writing.is_cancelled() && stalled.is_cancelled());
    }

    #[tokio::test]
    async fn a_child_that_closed_its_input_is_told_apart_from_one_that_does_not_read() {
        let (write, read) = tokio::io::duplex(8);
        drop(read);
        let (outgoing, messages) = mpsc::channel(1);
        let (writing, stalled) = (CancellationToken::new(), CancellationToken::new());
        outgoing.try_send(vec![0; 100]).expect("there is room");
        write_messages(write, messages, writing.clone(), stalled.clone()).await;
        assert!(writing.is_cancelled() && !stalled.is_cancelled());
    }
}
