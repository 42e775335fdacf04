//! The daemon's log: a file of bounded size, which never blocks the work.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use cap_std::fs::{Dir, File, OpenOptions};
use parking_lot::Mutex;
use tracing_subscriber::fmt::MakeWriter;

use crate::{environment, output};

/// The size at which the file is rotated; there are at most two of them.
const MAX_BYTES: u64 = 4 << 20;

/// Sends the log of this process to `NAME.log` in the state folder. Returns its path, if it can be
/// written.
pub(crate) fn to_file(name: &str, folder: Option<Dir>, verbose: u8) -> Option<PathBuf> {
    let path = environment::state_folder()?.join(format!("{name}.log"));
    let rotating = Rotating::open(folder?, format!("{name}.log")).ok()?;
    let level = if verbose == 0 {
        "info,rmcp=warn"
    } else {
        "debug,rmcp=warn,reqwest=warn,hyper_util=warn,rustls=warn,wasmtime=info,cranelift=info"
    };
    let filter = environment::log_filter(level);
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .fmt_fields(output::log_fields())
        .with_writer(LogFile(Mutex::new(rotating)))
        .with_ansi(false)
        .init();
    Some(path)
}

struct LogFile(Mutex<Rotating>);

impl<'log> MakeWriter<'log> for LogFile {
    type Writer = Entry<'log>;

    fn make_writer(&'log self) -> Entry<'log> {
        Entry { log: &self.0, text: Vec::new() }
    }
}

/// One event, written when it is complete, with control characters made visible, since it will be
/// read on a terminal.
struct Entry<'log> {
    log: &'log Mutex<Rotating>,
    text: Vec<u8>,
}

impl Write for Entry<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        let mut log = self.log.lock();
        // A full disk only costs log lines.
        let _ = log.write(output::log_line(&text).as_bytes());
    }
}

/// A file, and the one before it.
struct Rotating {
    folder: Dir,
    name: String,
    file: File,
    written: u64,
}

impl Rotating {
    fn open(folder: Dir, name: String) -> io::Result<Self> {
        let file = open(&folder, &name)?;
        let written = file.metadata()?.len();
        Ok(Self { folder, name, file, written })
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if self.written + text.len() as u64 > MAX_BYTES {
            self.folder.rename(&self.name, &self.folder, format!("{}.1", self.name))?;
            self.file = open(&self.folder, &self.name)?;
            self.written = 0;
        }
        self.file.write_all(text)?;
        self.written += text.len() as u64;
        Ok(())
    }
}

fn open(folder: &Dir, name: &str) -> io::Result<File> {
    belljar_files::open(folder, name, OpenOptions::new().append(true).create(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_put_aside_when_it_is_full_and_two_files_are_all_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let mut log = Rotating::open(open(), "x.log".to_owned()).unwrap();
        let line = vec![b'x'; 1 << 20];
        for _ in 0..11 {
            log.write(&line).unwrap();
        }
        let mut sizes: Vec<(String, u64)> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len() >> 20))
            .collect();
        sizes.sort();
        assert_eq!(sizes, [("x.log".to_owned(), 3), ("x.log.1".to_owned(), 4)]);
        // The next daemon continues this file.
        assert_eq!(Rotating::open(open(), "x.log".to_owned()).unwrap().written, 3 << 20);
    }
}
