//! Reading a request's body, bounded in size, in time, and in what all of them hold.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of one permit.
const UNIT: usize = 1024;

/// Room for the bodies that are being read.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    all: Arc<Semaphore>,
    most: usize,
    patience: Duration,
}

/// A body, and the room that it takes.
pub(crate) struct Read {
    pub(crate) bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    NoRoom,
    Broken,
}

impl Room {
    pub(crate) fn new(all: usize, most: usize, patience: Duration) -> Self {
        Self { all: Arc::new(Semaphore::new(all.div_ceil(UNIT))), most, patience }
    }

    pub(crate) async fn read(&self, body: Incoming) -> Result<Read, Unread> {
        tokio::time::timeout(self.patience, self.read_all(body)).await.unwrap_or(Err(Unread::TooSlow))
    }

    async fn read_all(&self, mut body: Incoming) -> Result<Read, Unread> {
        let most = u64::try_from(self.most).unwrap_or(u64::MAX);
        if body.size_hint().lower() > most {
            return Err(Unread::TooLarge);
        }
        // Room is taken as bytes come, and not as they are announced.
        let mut room = self.take(UNIT)?;
        let (mut bytes, mut taken) = (BytesMut::new(), UNIT);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
            let needed = bytes.len() + data.len();
            if needed > self.most {
                return Err(Unread::TooLarge);
            }
            if needed > taken {
                room.merge(self.take(needed - taken)?);
                taken = needed.next_multiple_of(UNIT);
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Read { bytes: bytes.freeze(), _room: room })
    }

    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Unread> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).map_err(|_| Unread::NoRoom)?;
        self.all.clone().try_acquire_many_owned(units).map_err(|_| Unread::NoRoom)
    }
}
