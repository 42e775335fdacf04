//! What waits to be written. It is bounded in bytes: a sender of more waits until the other end has
//! read.

use std::{io, sync::Arc};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::carrier::Sink;

/// How many messages are written together.
const BATCH: usize = 512;

/// Sends messages to the other end.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    /// It has no bound of its own: `room` bounds it.
    queue: mpsc::UnboundedSender<Message>,
    room: Arc<Semaphore>,
    most: usize,
    longest: usize,
}

/// What an [`Outbox`] sends.
pub(crate) struct Queue(mpsc::UnboundedReceiver<Message>);

/// A message, or nothing after the last one.
#[derive(Debug)]
struct Message {
    text: Option<String>,
    _room: Option<Room>,
}

/// Room for one message, until it is written.
#[derive(Debug)]
pub(crate) struct Room(#[expect(dead_code, reason = "it is there to be dropped")] OwnedSemaphorePermit);

/// The connection has ended.
#[derive(Debug)]
pub(crate) struct Closed;

/// An outbox in which this many bytes may wait, and its queue. A message has at most `longest`
/// bytes.
pub(crate) fn outbox(most: usize, longest: usize) -> (Outbox, Queue) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Outbox { queue: sender, room: Arc::new(Semaphore::new(most)), most, longest }, Queue(receiver))
}

impl Outbox {
    /// Sends a message as soon as there is room for it.
    ///
    /// # Cancellation
    /// If the future is dropped, the message is not sent.
    pub(crate) async fn send(&self, text: String) -> Result<(), Closed> {
        let room = self.room_for(&text).await?;
        self.send_in(room, text)
    }

    /// Room for a message.
    pub(crate) async fn room_for(&self, text: &str) -> Result<Room, Closed> {
        self.room.clone().acquire_many_owned(self.size(text)).await.map(Room).map_err(|_| Closed)
    }

    /// Sends a message for which there is room.
    pub(crate) fn send_in(&self, room: Room, text: String) -> Result<(), Closed> {
        self.queue.send(Message { text: Some(text), _room: Some(room) }).map_err(|_| Closed)
    }

    /// Sends a message if there is room for it now.
    pub(crate) fn try_send(&self, text: String) -> bool {
        self.room_now(&text).is_some_and(|room| self.send_in(room, text).is_ok())
    }

    /// Room for a message, if there is some now.
    pub(crate) fn room_now(&self, text: &str) -> Option<Room> {
        self.room.clone().try_acquire_many_owned(self.size(text)).ok().map(Room)
    }

    /// The limit on a message's bytes, if this one exceeds it: the other end could not read it.
    pub(crate) fn limit_of(&self, text: &str) -> Option<usize> {
        (text.len() > self.longest).then_some(self.longest)
    }

    /// Ends the queue: nothing is sent after this.
    pub(crate) fn close(&self) {
        // The connection may have ended already.
        let _ = self.queue.send(Message { text: None, _room: None });
    }

    /// The room that a message takes. A message that is larger than the whole budget waits until it
    /// is the only one.
    fn size(&self, text: &str) -> u32 {
        u32::try_from(text.len().clamp(1, self.most)).unwrap_or(u32::MAX)
    }

    /// Sends a message that calls off an earlier one. There is at most one for each earlier
    /// message.
    pub(crate) fn call_off(&self, text: String) {
        // If the connection has ended, there is nobody to tell.
        let _ = self.queue.send(Message { text: Some(text), _room: None });
    }
}

impl Queue {
    /// Writes what is sent, until an outbox is closed.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) async fn write_to(mut self, sink: &mut impl Sink) -> io::Result<()> {
        let (mut messages, mut is_open) = (Vec::new(), true);
        while is_open && self.0.recv_many(&mut messages, BATCH).await > 0 {
            let (mut texts, mut rooms) = (Vec::with_capacity(messages.len()), Vec::with_capacity(messages.len()));
            for Message { text, _room: room } in messages.drain(..) {
                is_open &= text.is_some();
                texts.extend(text);
                rooms.push(room);
            }
            sink.write(&texts).await?;
            drop(rooms);
        }
        sink.close().await
    }
}
