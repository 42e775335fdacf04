//! Sends frames from anywhere, without waiting for the other side.
//!
//! The sender writes a frame itself if the pipe takes it at once, since handing it to another task
//! costs a switch of threads. What the pipe has no room for is written by [`Outbox::flush`], a task
//! that the pipe's owner keeps running.

use std::{collections::VecDeque, io, sync::Arc};

use belljar_sandbox::apart::Counted;
use parking_lot::Mutex;
use tokio::{
    io::Interest,
    net::unix::pipe::Sender,
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
};

/// How many KiB of large frames (answers, sources) may be queued; senders of further ones wait. 16
/// MiB: three of the largest answers.
const WAITING_KIB: u32 = 16 * 1024;

/// This side's end of the pipe to the other.
pub(crate) struct Outbox {
    pipe: Sender,
    queue: Mutex<Queue>,
    has_more: Notify,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Waiting>,
    /// The other side no longer reads.
    is_closed: bool,
}

struct Waiting {
    bytes: Vec<u8>,
    written: usize,
    _until_written: (Option<OwnedSemaphorePermit>, Option<Counted>),
}

/// Room for one large frame.
pub(crate) struct Room(OwnedSemaphorePermit);

impl Outbox {
    pub(crate) fn new(pipe: Sender) -> Self {
        Self {
            pipe,
            queue: Mutex::default(),
            has_more: Notify::new(),
            room: Arc::new(Semaphore::new(WAITING_KIB as usize)),
        }
    }

    /// Waits until a frame of this many bytes may be sent; `None` after [`Outbox::end`].
    pub(crate) async fn room_for(&self, bytes: usize) -> Option<Room> {
        self.room.clone().acquire_many_owned(kib(bytes)).await.ok().map(Room)
    }

    /// The same without waiting.
    pub(crate) fn room_now(&self, bytes: usize) -> Option<Room> {
        self.room.clone().try_acquire_many_owned(kib(bytes)).ok().map(Room)
    }

    /// Sends a frame for which room was reserved. It counts until it is written.
    pub(crate) fn send_in(&self, room: Room, frame: Vec<u8>, counted: Option<Counted>) {
        self.push(frame, (Some(room.0), counted));
    }

    /// Sends a small frame at once. There are only a few for each run and each of its calls, whose
    /// numbers are bounded.
    pub(crate) fn send(&self, frame: Vec<u8>) {
        self.push(frame, (None, None));
    }

    /// Sends an answer at once, within the allowance of its run.
    pub(crate) fn send_counted(&self, frame: Vec<u8>, counted: Counted) {
        self.push(frame, (None, Some(counted)));
    }

    fn push(&self, bytes: Vec<u8>, until_written: (Option<OwnedSemaphorePermit>, Option<Counted>)) {
        let mut queue = self.queue.lock();
        if queue.is_closed {
            return;
        }
        queue.frames.push_back(Waiting { bytes, written: 0, _until_written: until_written });
        // If frames are queued already, the task writes them.
        if queue.frames.len() == 1 && !self.write_some(&mut queue) {
            self.has_more.notify_one();
        }
    }

    /// Writes queued frames whenever the pipe takes them. Completes when the other side no longer
    /// reads, even if nothing is queued.
    pub(crate) async fn flush(&self) -> io::Error {
        let error = tokio::select! {
            // If nobody reads from a pipe, its other end reports an error at once.
            closed = self.pipe.ready(Interest::ERROR) => {
                closed.err().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into())
            }
            error = self.write_all() => error,
        };
        self.close();
        error
    }

    async fn write_all(&self) -> io::Error {
        loop {
            self.has_more.notified().await;
            loop {
                if let Err(error) = self.pipe.writable().await {
                    return error;
                }
                let mut queue = self.queue.lock();
                if self.write_some(&mut queue) {
                    if queue.is_closed {
                        return io::ErrorKind::BrokenPipe.into();
                    }
                    break;
                }
            }
        }
    }

    /// Drops the queue, and sends nothing more. Waiters for room are told that there will be none.
    pub(crate) fn end(&self) {
        self.room.close();
        self.close();
    }

    fn close(&self) {
        let mut queue = self.queue.lock();
        queue.is_closed = true;
        queue.frames.clear();
    }

    /// Writes as much as the pipe takes, and returns whether that was all.
    fn write_some(&self, queue: &mut Queue) -> bool {
        while let Some(first) = queue.frames.front_mut() {
            let left = first.bytes.get(first.written..).unwrap_or_default();
            if left.is_empty() {
                queue.frames.pop_front();
                continue;
            }
            match self.pipe.try_write(left) {
                Ok(written) => first.written += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The reader of the other pipe finds out why.
                Err(_) => {
                    queue.is_closed = true;
                    queue.frames.clear();
                    self.has_more.notify_one();
                }
            }
        }
        true
    }

    /// Frames that wait for the pipe.
    #[cfg(test)]
    pub(crate) fn waiting_frames(&self) -> usize {
        self.queue.lock().frames.len()
    }
}

/// The room that a frame takes. A frame that is larger than the whole budget waits until it is the
/// only one.
fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).clamp(1, WAITING_KIB)
}
