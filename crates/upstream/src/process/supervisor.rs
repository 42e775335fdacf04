//! The process between belljar and a child, so that nothing of the child outlives belljar.
//!
//! belljar can be killed in a way that it cannot notice. The processes that it started must then
//! end too, with their helpers, even those that have left their process group. So each child is
//! started by a small process, belljar's own program in another role, that holds one end of a pipe.
//! When the other end is closed, belljar is gone, and the supervisor ends everything below itself.
//! (A signal on the death of the parent would only reach the child; it is bound to a thread and not
//! to the process, and it needs unsafe code.)
//!
//! On Linux the supervisor adopts the orphans of its descendants, so that a helper with its own
//! session is found as well. Elsewhere only the process group can be reached.
//!
//! The child's pipes are the supervisor's own, passed on, so the supervisor does not see the
//! traffic. It must never write to these pipes, and never end before everything below it has.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    process::{ExitCode, ExitStatus, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use belljar_worker::close_inherited;
use nix::{
    sys::{
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout},
};
use tokio::{
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
    sync::Notify,
    time::{Instant, sleep, timeout},
};

use crate::{
    limits,
    process::{LOOK_EVERY, table::Table},
};

/// What belljar writes to the pipe to have everything killed at once. Without it, the end of the
/// pipe means that belljar ended, and the child has the time of a normal shutdown.
pub(crate) const KILL: u8 = b'K';

/// The supervisor's reports on its child, one line each.
pub(crate) mod report {
    /// It runs, with this pid.
    pub(crate) const PID: &str = "pid";
    /// It could not be started; the system's error number.
    pub(crate) const ERROR: &str = "error";
    /// It has ended, with this raw status.
    pub(crate) const STATUS: &str = "status";
}

/// Supervises one child, as a process of its own: the program that is named in
/// [`Options::supervisor`](crate::Options::supervisor) calls this with what follows the arguments
/// named there, and ends when it returns.
pub fn supervise(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match run(arguments.into_iter()) {
        // As a shell would report it; the whole status is in the report.
        Ok(status) => {
            let code = status.code().or_else(|| Some(128 + status.signal()?));
            code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(mut arguments: impl Iterator<Item = OsString>) -> io::Result<ExitStatus> {
    // The environment belongs to the child, with its secrets; the memory and the pipes do not.
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    let (control, report) = (number(arguments.next())?, number(arguments.next())?);
    close_inherited(&[control, report])?;
    // Nothing below can join another session again, so belljar can recognise its processes. It also
    // has no terminal, into which a child could type.
    nix::unistd::setsid()?;
    let control = reopened(control, |path| File::open(path))?;
    let mut report = reopened(report, |path| File::options().write(true).open(path))?;
    let program = arguments.next().ok_or_else(usage)?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Signals that end the group are for the child, not for the supervisor.
        let _caught = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                writeln!(report, "{} {}", report::ERROR, error.raw_os_error().unwrap_or(0))?;
                return Err(error);
            }
        };
        give_up_pipes()?;
        tokio::spawn(bury_adopted(child.id()));
        writeln!(report, "{} {}", report::PID, child.id().unwrap_or(0))?;
        let status = watch(child, control).await?;
        writeln!(report, "{} {}", report::STATUS, status.into_raw())?;
        #[cfg(not(target_os = "linux"))]
        nix::sys::signal::killpg(nix::unistd::getpgrp(), Signal::SIGKILL)?;
        Ok(status)
    })
}

/// The number of a descriptor that is handed to this process.
fn number(argument: Option<OsString>) -> io::Result<i32> {
    argument.and_then(|number| number.to_str()?.parse().ok()).filter(|number| *number > 2).ok_or_else(usage)
}

/// Duplicates an inherited descriptor, and closes the original, so that the child inherits neither.
fn reopened(number: i32, open: impl Fn(&str) -> io::Result<File>) -> io::Result<File> {
    let file = open(&format!("/dev/fd/{number}"))?;
    nix::unistd::close(number)?;
    Ok(file)
}

fn usage() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "belljar starts this by itself")
}

/// Closes the child's pipes here: otherwise nobody would notice that the child closed them.
fn give_up_pipes() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok(())
}

/// Waits for the end of the child or of belljar, and then ends what is left.
async fn watch(mut child: Child, control: File) -> io::Result<ExitStatus> {
    let (gone, killed) = (Arc::<Notify>::default(), Arc::<Notify>::default());
    thread::spawn({
        let (gone, killed) = (gone.clone(), killed.clone());
        move || {
            let mut byte = [0];
            match (&control).read(&mut byte) {
                Ok(1) if byte == [KILL] => killed.notify_one(),
                _ => gone.notify_one(),
            }
        }
    });
    let status = tokio::select! {
        biased;
        () = killed.notified() => None,
        status = child.wait() => Some(status?),
        () = gone.notified() => {
            // The child has seen the end of its input as well.
            let leaving = async {
                if let Ok(status) = timeout(limits::STDIN_GRACE, child.wait()).await {
                    return status.map(Some);
                }
                signal_all(Signal::SIGTERM);
                match timeout(limits::TERM_GRACE, child.wait()).await {
                    Ok(status) => status.map(Some),
                    Err(_) => Ok(None),
                }
            };
            leaving.await?
        }
    };
    if status.is_some() && signal_all(Signal::SIGTERM) > 0 {
        all_gone_within(limits::HELPER_GRACE).await;
    }
    while signal_all(Signal::SIGKILL) > 0 {
        all_gone_within(LOOK_EVERY).await;
    }
    match status {
        Some(status) => Ok(status),
        None => {
            // It is already dead if everything below can be found.
            let _ = child.start_kill();
            child.wait().await
        }
    }
}

/// Reaps adopted processes as they die. The child itself is left to its own waiter.
async fn bury_adopted(child: Option<u32>) {
    let child = child.and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
    let Ok(mut deaths) = signal(SignalKind::child()) else { return };
    while deaths.recv().await.is_some() {
        for dead in Table::read().children(Pid::this()).filter(|one| one.is_dead && Some(one.pid) != child) {
            // It is dead, so this does not wait.
            let _ = waitpid(dead.pid, Some(WaitPidFlag::WNOHANG));
        }
    }
}

async fn all_gone_within(limit: Duration) {
    let deadline = Instant::now() + limit;
    while !descendants().is_empty() && Instant::now() < deadline {
        sleep(LOOK_EVERY).await;
    }
}

/// Signals everything below this process, and returns how many there were.
fn signal_all(signal: Signal) -> usize {
    let descendants = descendants();
    for pid in &descendants {
        // It may have ended meanwhile.
        let _ = kill(*pid, signal);
    }
    descendants.len()
}

/// Everything below this process that is alive.
fn descendants() -> Vec<Pid> {
    Table::read().living_below(Pid::this())
}
