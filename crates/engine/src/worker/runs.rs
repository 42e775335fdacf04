//! The runs of this process, by the numbers that the gateway assigned to them.

use std::{collections::HashMap, io, sync::Arc};

use belljar_sandbox::Run;
use parking_lot::Mutex;
use tokio::{io::AsyncRead, sync::oneshot, task::JoinHandle};

use super::{jar::Jar, tools::FarTools};
use crate::protocol::{frame::Header, from_worker, outbox::Outbox, replayed, to_worker};

/// The runs that have not ended.
type Known = Arc<Mutex<HashMap<u64, Entry>>>;

struct Entry {
    tools: Arc<FarTools>,
    cancel: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

/// Handles the gateway's messages until it closes the pipe.
///
/// # Errors
/// If the pipe fails, or a message does not follow the protocol.
pub(super) async fn serve(mut from: impl AsyncRead + Unpin, jar: Arc<impl Jar>, outbox: Arc<Outbox>) -> io::Result<()> {
    let known = Known::default();
    while let Some(header) = Header::read(&mut from).await? {
        if header.length > to_worker::MAX_BODY {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let body = header.body(&mut from).await?;
        let run = header.run;
        match header.kind {
            to_worker::RUN => begin(run, &body, &known, &jar, &outbox)?,
            to_worker::REPLAY => begin_replay(run, body, &known, &jar, &outbox),
            to_worker::CANCEL => {
                // A run that has ended meanwhile need not be told.
                if let Some(cancel) = lock(&known).get_mut(&run).and_then(|entry| entry.cancel.take()) {
                    let _ = cancel.send(());
                }
            }
            to_worker::DROP => {
                let entry = lock(&known).remove(&run);
                if let Some(Entry { task: Some(task), tools, .. }) = entry {
                    tools.end();
                    task.abort();
                    let outbox = outbox.clone();
                    tokio::spawn(async move {
                        // The run sends nothing more once it has ended.
                        let _ = task.await;
                        outbox.send(from_worker::gone(run));
                    });
                }
            }
            to_worker::ANSWER => {
                let tools = lock(&known).get(&run).map(|entry| entry.tools.clone());
                if let Some(tools) = tools {
                    tools.answered(to_worker::parse_answer(&body).map_err(io::Error::other)?);
                }
            }
            to_worker::CALL_ANSWER => {
                let tools = lock(&known).get(&run).map(|entry| entry.tools.clone());
                if let Some(tools) = tools {
                    let (number, answer) = to_worker::parse_call_answer(&body).map_err(io::Error::other)?;
                    tools.call_answered(number, answer);
                }
            }
            to_worker::ANSWER_WAITS => {
                let tools = lock(&known).get(&run).map(|entry| entry.tools.clone());
                if let Some(tools) = tools {
                    let (number, bytes) = to_worker::parse_answer_waits(&body).map_err(io::Error::other)?;
                    tools.answer_waits(number, bytes);
                }
            }
            to_worker::PARKED => {
                let tools = lock(&known).get(&run).map(|entry| entry.tools.clone());
                if let Some(tools) = tools {
                    let (number, is_parked) = to_worker::parse_parked(&body).map_err(io::Error::other)?;
                    tools.parked(number, is_parked);
                }
            }
            to_worker::WATCH => {
                let tools = lock(&known).get(&run).map(|entry| entry.tools.clone());
                if let Some(tools) = tools {
                    tools.watch(to_worker::parse_watch(&body).map_err(io::Error::other)?);
                }
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(())
}

fn begin(run: u64, body: &[u8], known: &Known, jar: &Arc<impl Jar>, outbox: &Arc<Outbox>) -> io::Result<()> {
    let to_worker::Begin { program, limits, namespaces, functions, is_watched } =
        to_worker::parse_run(body).map_err(io::Error::other)?;
    let tools = Arc::new(FarTools::new(run, (namespaces, functions), outbox.clone(), is_watched));
    let (cancel, cancelled) = oneshot::channel();
    lock(known).insert(run, Entry { tools: tools.clone(), cancel: Some(cancel), task: None });
    let (jar, of_task, outbox) = (jar.clone(), known.clone(), outbox.clone());
    let task = tokio::spawn(async move {
        let cancelled = async {
            if cancelled.await.is_err() {
                // Nobody can cancel it any more.
                std::future::pending::<()>().await;
            }
        };
        let outcome = Run::new(&*jar, program).limits(&limits).tools(tools.clone()).cancel_on(cancelled).await;
        // Its last calls may be dropped on other threads.
        tools.end();
        // The task that removes the run reports its end: this one, or the one that dropped it.
        if lock(&of_task).remove(&run).is_some() {
            if let Some(recorded) = &outcome.recording {
                outbox.send(from_worker::recording(run, recorded));
            }
            outbox.send(from_worker::outcome(run, &outcome));
        }
    });
    if let Some(entry) = lock(known).get_mut(&run) {
        entry.task = Some(task);
    }
    Ok(())
}

/// Begins a replay, which makes no calls and asks no questions. It ends by itself, or is dropped.
fn begin_replay(run: u64, body: Vec<u8>, known: &Known, jar: &Arc<impl Jar>, outbox: &Arc<Outbox>) {
    let tools = Arc::new(FarTools::new(run, Default::default(), outbox.clone(), false));
    lock(known).insert(run, Entry { tools, cancel: None, task: None });
    let (jar, of_task, outbox) = (jar.clone(), known.clone(), outbox.clone());
    let task = tokio::spawn(async move {
        let replayed = jar.replay(&body).await;
        if lock(&of_task).remove(&run).is_some() {
            replayed::frames(run, replayed).into_iter().for_each(|frame| outbox.send(frame));
        }
    });
    if let Some(entry) = lock(known).get_mut(&run) {
        entry.task = Some(task);
    }
}

fn lock(known: &Known) -> parking_lot::MutexGuard<'_, HashMap<u64, Entry>> {
    known.lock()
}
