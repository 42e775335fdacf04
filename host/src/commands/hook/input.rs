//! Reads what the client sends, within bounds of size and time.

use std::{
    io::{self, Read as _},
    sync::mpsc,
    thread,
    time::Duration,
};

use belljar_hooks::MAX_INPUT_BYTES;

/// How long a client may take to send its input, unless `--wait` is longer. It is there when the
/// process starts, or never.
const PATIENCE: Duration = Duration::from_secs(1);
/// How much of an input that is too long is read and discarded, so that the client can write it.
const DRAINED_BYTES: u64 = 64 << 20;

/// The whole input, or why there is none.
pub(super) fn read(wait: Duration) -> Result<Vec<u8>, String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let read = move || {
        let mut input = Vec::new();
        let most = u64::try_from(MAX_INPUT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let read = io::stdin().lock().take(most).read_to_end(&mut input);
        if input.len() > MAX_INPUT_BYTES {
            // A client that cannot write all of its input may take that for a failure of the hook.
            // Errors while discarding the rest do not matter.
            let _ = io::copy(&mut io::stdin().lock().take(DRAINED_BYTES), &mut io::sink());
        }
        // The receiver may have given up.
        let _ = sender.send(read.map(|_| input));
    };
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(read)
        .map_err(|error| format!("no thread can be started: {error}"))?;
    let patience = wait.max(PATIENCE);
    match receiver.recv_timeout(patience) {
        Ok(Ok(input)) if input.len() > MAX_INPUT_BYTES => {
            Err(format!("the input has more than {MAX_INPUT_BYTES} bytes"))
        }
        Ok(Ok(input)) => Ok(input),
        Ok(Err(error)) => Err(format!("the input cannot be read: {error}")),
        Err(_) => Err(format!("the input has not ended for {} s", patience.as_secs_f64())),
    }
}
