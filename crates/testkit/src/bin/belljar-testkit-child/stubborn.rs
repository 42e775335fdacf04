//! Servers that leave processes behind.

use std::{
    fs, io,
    process::{Command, Stdio, id},
    thread,
    time::Duration,
};

use crate::{
    echo::{answer, tools},
    protocol::{Output, serve},
};

/// Serves until its input ends, and then exits cleanly, leaving its helper. Writes the helper's pid
/// to `file`.
pub(crate) fn leave_helper(file: &str) -> io::Result<()> {
    let helper = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn()?;
    write_whole(file, &helper.id().to_string())?;
    serve(&Output::default(), &tools(), answer)
}

/// Serves, and ignores the end of its input and SIGTERM, as does its helper. Writes both pids to
/// `file`.
pub(crate) fn stubborn(file: &str) -> io::Result<()> {
    ignore_termination()?;
    // An ignored signal stays ignored in the program that replaces the shell.
    let helper = Command::new("sh").args(["-c", "trap '' TERM; exec sleep 1000"]).stdin(Stdio::null()).spawn()?;
    write_whole(file, &format!("{} {}", id(), helper.id()))?;
    serve(&Output::default(), &tools(), answer)?;
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

/// As [`stubborn`], with a helper that has left the process group. Writes both pids to `file`.
pub(crate) fn runaway(file: &str) -> io::Result<()> {
    ignore_termination()?;
    let helper = helper_in_its_own_session(file)?;
    write_whole(file, &format!("{} {helper}", id()))?;
    serve(&Output::default(), &tools(), answer)?;
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

/// Starts a helper that leaves the process group and stays, and returns its pid. `file` names its
/// marker.
pub(crate) fn helper_in_its_own_session(file: &str) -> io::Result<u32> {
    let mark = format!("{file}.helper");
    let _ = fs::remove_file(&mark);
    let helper = Command::new(std::env::current_exe()?).args(["daemon", &mark]).stdin(Stdio::null()).spawn()?;
    // It is in its own session once the marker is there.
    while !fs::exists(&mark)? {
        thread::sleep(Duration::from_millis(2));
    }
    fs::remove_file(&mark)?;
    Ok(helper.id())
}

/// Leaves its process group and stays. Leaves the marker `file`.
pub(crate) fn daemon(file: &str) -> io::Result<()> {
    #[cfg(unix)]
    nix::unistd::setsid()?;
    write_whole(file, "here")?;
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

#[cfg(unix)]
fn ignore_termination() -> io::Result<()> {
    use nix::sys::signal::{SigSet, Signal};
    // If it is blocked before other threads start, it is blocked in all of them.
    Ok(SigSet::from(Signal::SIGTERM).thread_block()?)
}

#[cfg(not(unix))]
fn ignore_termination() -> io::Result<()> {
    Ok(())
}

/// Writes a file so that a reader sees all of it or nothing.
pub(crate) fn write_whole(file: &str, text: &str) -> io::Result<()> {
    let unfinished = format!("{file}.part");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, file)
}
