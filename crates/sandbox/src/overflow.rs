//! The file for waiting answers that find no room in memory.
//!
//! Each run that needs one has its own. The file has no name, so nothing of it is left when the run
//! has ended, however it ended. It holds answers of children, so nobody else can read it, and the
//! owner of the sandbox chooses its folder.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use belljar_model::{JsonBounds, JsonText};
use cap_std::fs::{Dir, OpenOptions};
use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use crate::holdings::{Filed, Held};

/// The file of one run, created when it is needed.
#[derive(Clone)]
pub(crate) struct Overflow {
    folder: Option<Arc<Dir>>,
    file: Arc<Mutex<OpenFile>>,
}

#[derive(Default)]
struct OpenFile {
    file: Option<cap_std::fs::File>,
    end: u64,
    /// The number of answers in it.
    count: u64,
}

/// An answer in the file.
pub(crate) struct Written {
    overflow: Overflow,
    start: u64,
    length: u64,
    _filed: Filed,
}

impl Overflow {
    /// A file in this folder, if there is one.
    pub(crate) fn new(folder: Option<Arc<Dir>>) -> Self {
        Self { folder, file: Arc::default() }
    }

    /// Whether a file can be used.
    pub(crate) fn exists(&self) -> bool {
        self.folder.is_some()
    }

    /// Writes an answer to the file. Until it is written it counts as one in memory.
    ///
    /// # Cancellation
    /// If the future is dropped, the thread finishes writing, and the answer is forgotten.
    pub(crate) async fn write(&self, text: JsonText, held: Held) -> io::Result<Written> {
        let overflow = self.clone();
        on_a_thread(move || {
            let length = u64::try_from(text.as_str().len()).map_err(io::Error::other)?;
            let start = overflow.append(text.as_str().as_bytes())?;
            drop(text);
            let filed = held.into_filed().ok_or_else(|| io::Error::other("an answer for memory"))?;
            Ok(Written { overflow, start, length, _filed: filed })
        })
        .await
    }

    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut open = self.file.lock();
        if open.file.is_none() {
            let folder = self.folder.as_ref().ok_or_else(|| io::Error::other("there is no folder for it"))?;
            open.file = Some(nameless(folder)?);
        }
        let OpenFile { file: Some(file), end, count } = &mut *open else { return Err(io::Error::other("no file")) };
        let start = *end;
        file.seek(SeekFrom::Start(start))?;
        file.write_all(bytes)?;
        (*end, *count) = (file.stream_position()?, *count + 1);
        Ok(start)
    }

    fn read(&self, start: u64, length: u64) -> io::Result<String> {
        let mut open = self.file.lock();
        let file = open.file.as_mut().ok_or_else(|| io::Error::other("no file"))?;
        file.seek(SeekFrom::Start(start))?;
        let mut text = String::with_capacity(usize::try_from(length).map_err(io::Error::other)?);
        let read = file.take(length).read_to_string(&mut text)?;
        if u64::try_from(read).is_ok_and(|read| read == length) {
            return Ok(text);
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    /// Removes an answer. When it was the last one, the file is empty again.
    fn forget(&self) {
        let mut open = self.file.lock();
        open.count = open.count.saturating_sub(1);
        if open.count == 0 {
            open.end = 0;
        }
    }
}

impl Written {
    /// Reads the answer back.
    ///
    /// # Cancellation
    /// If the future is dropped, the thread finishes reading, and the answer is lost.
    pub(crate) async fn read(self) -> io::Result<JsonText> {
        on_a_thread(move || {
            let text = self.overflow.read(self.start, self.length)?;
            // It was within bounds when it was written.
            JsonText::parse(text, &JsonBounds::with_bytes(usize::MAX)).map_err(io::Error::other)
        })
        .await
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.overflow.forget();
    }
}

/// A new nameless file.
fn nameless(folder: &Dir) -> io::Result<cap_std::fs::File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("answers-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let file = folder.open_with(&name, &options)?;
    folder.remove_file(&name)?;
    Ok(file)
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;
    use crate::holdings::Holdings;

    #[tokio::test]
    async fn what_is_written_is_read_back_and_the_file_has_no_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("the folder");
        let overflow = Overflow::new(Some(Arc::new(dir)));
        let holdings = Holdings::new(1_000, true);
        let _first = holdings.admit(1_000, || true).await;
        let mut written = Vec::new();
        for number in 0..3 {
            let text = JsonText::from_value(&serde_json::json!({ "number": number, "text": "é".repeat(1_000) }));
            let held = holdings.admit(2_020, || true).await.expect("there is a file");
            written.push((text.clone(), overflow.write(text, held).await.expect("it is written")));
        }
        assert_eq!(folder.path().read_dir().expect("the folder").count(), 0);
        for (text, written) in written.into_iter().rev() {
            assert_eq!(written.read().await.expect("it is there"), text);
        }
        assert_eq!(overflow.file.lock().end, 0, "an empty file begins anew");
    }
}
