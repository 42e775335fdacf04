//! From nothing to a result: a whole process, and a sandbox in a warm one.

use belljar_sandbox::{Program, Sandbox};
use std::{path::Path, process::Stdio, sync::Arc, time::Instant};
use tokio::process::Command;

use crate::{
    MeasureError, Times,
    report::{Microseconds, Milliseconds},
};

/// Variables that would lead the program to files of the user.
const UNSET: [&str; 2] = ["BELLJAR_CONFIG", "BELLJAR_LOG"];
const FOLDERS: [&str; 5] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];

/// A process from its start to its end, with an empty configuration and fresh folders.
pub(super) async fn cold(program: &Path, rounds: usize) -> Result<Milliseconds, MeasureError> {
    let folder = tempfile::tempdir().map_err(MeasureError::Folder)?;
    let config = folder.path().join("belljar.toml");
    std::fs::write(&config, "").map_err(MeasureError::Folder)?;
    let mut times = Vec::with_capacity(rounds);
    // The first one reads the program from the disk, so it does not count.
    for round in 0..=rounds {
        let mut command = Command::new(program);
        command.args(["run", "--no-daemon", "--config"]).arg(&config).args(["--code", "1+1"]);
        command.current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        command.envs(FOLDERS.map(|name| (name, folder.path())));
        for name in UNSET {
            command.env_remove(name);
        }
        let begun = Instant::now();
        let output = command.output().await;
        let time = begun.elapsed();
        let output = output.map_err(|error| MeasureError::Start { program: program.to_owned(), error })?;
        if output.stdout.trim_ascii() != b"2" {
            let said = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
            let answer = String::from_utf8_lossy(said).trim().to_owned();
            return Err(MeasureError::Answer { program: program.to_owned(), answer });
        }
        if round > 0 {
            times.push(time);
        }
    }
    Ok(Milliseconds::of(&Times::new(times)))
}

/// A fresh instance, `1+1` in it, and its end.
pub(super) async fn warm(sandbox: &Arc<Sandbox>, rounds: usize) -> Result<Microseconds, MeasureError> {
    let mut times = Vec::with_capacity(rounds);
    // The first ones touch the slot's memory.
    for round in 0..rounds + 10 {
        let begun = Instant::now();
        let outcome = sandbox.run(Program::new("1+1")).await;
        let time = begun.elapsed();
        outcome.result?;
        if round >= 10 {
            times.push(time);
        }
    }
    Ok(Microseconds::of(&Times::new(times), 1))
}
