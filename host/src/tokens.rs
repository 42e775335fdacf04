//! The file of tokens for `belljar serve --http`, and how a running server follows it.

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use belljar_http::{TokenError, Tokens};
use cap_std::fs::{Dir, OpenOptions};
use tokio::{sync::watch, task::spawn_blocking};

use crate::failure::Failure;

const FILE: &str = "http-tokens.json";
const UNFINISHED: &str = "http-tokens.json.new";
const LOCK: &str = "http-tokens.lock";
/// A token has some 200 bytes, and there are 256 at most.
const FILE_BYTES: u64 = 256 * 1024;
/// How often a server checks the file.
const LOOK: Duration = Duration::from_secs(1);

/// The tokens in the file; none if there is no file.
pub(crate) fn read(folder: &Dir) -> Result<Tokens, Failure> {
    match belljar_files::read_text(folder, FILE, FILE_BYTES).map_err(|error| unusable(&error.to_string()))? {
        None => Ok(Tokens::default()),
        Some(text) => Tokens::parse(&text).map_err(|fault| unusable(&fault.to_string())),
    }
}

/// Changes the file under a lock.
pub(crate) fn change<T>(folder: &Dir, change: impl FnOnce(&mut Tokens) -> Result<T, TokenError>) -> Result<T, Failure> {
    let failed = |error: io::Error| unusable(&error.to_string());
    let lock = belljar_files::open(folder, LOCK, OpenOptions::new().write(true).create(true)).map_err(failed)?;
    let lock = lock.into_std();
    lock.lock().map_err(failed)?;
    let mut tokens = read(folder)?;
    let changed = change(&mut tokens)
        .map_err(|fault| Failure::usage(fault.to_string(), "'belljar token list' shows those that there are"))?;
    write(folder, &tokens.to_text()).map_err(failed)?;
    drop(lock);
    Ok(changed)
}

/// The tokens, now and from now on, as long as the future is polled. If the file becomes unusable,
/// nobody is let in.
pub(crate) fn watch(folder: Dir) -> Result<(watch::Receiver<Arc<Tokens>>, impl Future<Output = ()>), Failure> {
    let (sender, receiver) = watch::channel(Arc::new(read(&folder)?));
    let folder = Arc::new(folder);
    let watching = async move {
        let mut ticks = tokio::time::interval(LOOK);
        loop {
            ticks.tick().await;
            let folder = folder.clone();
            let read = spawn_blocking(move || read(&folder)).await.unwrap_or_else(|_| Err(unusable("it was not read")));
            let tokens = read.unwrap_or_else(|failure| {
                tracing::error!("{}; no client is let in", failure.told().0);
                Tokens::default()
            });
            sender.send_if_modified(|known| {
                let changed = **known != tokens;
                if changed {
                    *known = Arc::new(tokens);
                }
                changed
            });
        }
    };
    Ok((receiver, watching))
}

/// Concurrent readers see the previous file.
fn write(folder: &Dir, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = belljar_files::open(folder, UNFINISHED, options.write(true).create(true).truncate(true))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    folder.rename(UNFINISHED, folder, FILE)
}

fn unusable(why: &str) -> Failure {
    Failure::config(
        format!("the file {FILE} in belljar's state folder cannot be used: {why}"),
        "remove it and add the tokens again",
    )
}
