//! The engine's process: it sets up a sandbox, gives up all rights that it does not need, and runs
//! what the gateway sends.
//!
//! Its walls depend on the order of its first steps: see [`serve`].

mod component;
mod jar;
mod runs;
mod tools;

pub use self::component::serve_component;
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions};
use belljar_worker::{Bounds, Role};
use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    num::NonZero,
    os::fd::{AsFd as _, OwnedFd},
    process::ExitCode,
    sync::Arc,
    thread,
};
use tokio::{
    io::BufReader,
    net::unix::pipe::{Receiver, Sender},
    runtime::Runtime,
};

use crate::{
    memory,
    protocol::{
        frame::{HEADER_BYTES, Header},
        from_worker,
        outbox::Outbox,
        to_worker,
    },
};

/// The most bytes of the first frame.
const MAX_HELLO: u32 = 1024;

/// The main function of the engine's process: it reads runs from stdin until stdin is closed, and
/// writes their results to stdout.
///
/// `arguments` are those after the ones that select the role. This must be called before anything
/// else, in a process with a single thread. Its steps are:
///
/// 1. The process is bound to its parent, and inherited files are closed.
/// 2. The handle for resetting the memory of slots is opened, then the process is hidden from
///    others of the same user.
/// 3. File access is denied (landlock). All threads that are started later inherit this.
/// 4. The engine is set up: machine code is mapped, threads are started, and a first run touches
///    everything that a run uses.
/// 5. All but a few system calls are denied to all threads (seccomp), and resource limits are
///    lowered: to zero for descriptors, processes and files, and to what the runs may use for
///    memory.
///
/// Only then does the process report that it is ready, and read the first script. If the system
/// refuses any of this, the process ends, and reports the reason.
pub fn serve(arguments: impl Iterator<Item = OsString>, image: &Image) -> ExitCode {
    match start(arguments, image) {
        Ok(served) => served,
        Err(reason) => {
            // If this fails, nobody reads it, and nobody waits for it.
            let _ = io::Write::write_all(&mut io::stdout(), &from_worker::failed(&reason));
            let _ = io::Write::flush(&mut io::stdout());
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: impl Iterator<Item = OsString>, image: &Image) -> Result<ExitCode, String> {
    let bounds = Bounds { memory: None, descriptors: None, processor_time: None };
    Role::begin_after(arguments, bounds, 0, belljar_sandbox::open_page_map).map_err(|error| error.to_string())?;
    // std's stdin reads ahead, so it is not used.
    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let mut stdin = File::from(stdin);
    let options = hello(&mut stdin).map_err(|error| format!("the gateway's first frame cannot be read: {error}"))?;

    belljar_confine::engine::before_threads().map_err(|fault| fault.to_string())?;
    let sandbox = Sandbox::new(image, options.clone()).map_err(|error| error.to_string())?;
    // As many threads as runs can compute. A further one would be woken at every call, and find
    // nothing to do. While all of them compute, the pipe is read between two turns, like sockets
    // when scripts run in the gateway's process.
    let threads = usize::try_from(options.max_computing).unwrap_or(usize::MAX).min(cores()).max(1);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot be started: {error}"))?;
    touch(&runtime, &sandbox)?;
    let (from, outbox) = runtime.block_on(pipes(stdin, stdout)).map_err(|error| error.to_string())?;
    belljar_confine::engine::bound_memory(memory::most_mapped(&options)).map_err(|fault| fault.to_string())?;
    belljar_confine::engine::before_work().map_err(|fault| fault.to_string())?;

    outbox.send(from_worker::ready());
    let served = runtime.block_on(async {
        let flushed = outbox.clone();
        let flushing = tokio::spawn(async move { flushed.flush().await });
        // Done on a thread of the runtime, where the tasks that it wakes run next.
        let served = tokio::spawn(runs::serve(BufReader::new(from), Arc::new(sandbox), outbox)).await;
        flushing.abort();
        served
    });
    match served {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!("the gateway cannot be understood: {error}"),
        Err(error) => tracing::error!("the engine's process failed: {error}"),
    }
    // Runs that are under way are dropped with their threads.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// Reads how many runs there may be.
fn hello(stdin: &mut File) -> io::Result<SandboxOptions> {
    let mut header = [0; HEADER_BYTES];
    stdin.read_exact(&mut header)?;
    let header = Header::parse(header);
    if header.kind != to_worker::HELLO || header.length > MAX_HELLO {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; header.length as usize];
    stdin.read_exact(&mut body)?;
    to_worker::parse_hello(&body).map_err(io::Error::other)
}

/// Executes a typical run once, so that everything is initialised before the walls are ready. For
/// example, the snapshot's file in memory needs system calls that no later run does.
fn touch(runtime: &Runtime, sandbox: &Sandbox) -> Result<(), String> {
    let first = Program::new("await new Promise(resolve => setTimeout(resolve, 1)); return 1");
    let outcome = runtime.block_on(sandbox.run(first).into_future());
    outcome.result.map(drop).map_err(|error| format!("a first run failed: {error}"))
}

async fn pipes(stdin: File, stdout: OwnedFd) -> io::Result<(Receiver, Arc<Outbox>)> {
    let from = Receiver::from_owned_fd(OwnedFd::from(stdin))?;
    Ok((from, Arc::new(Outbox::new(Sender::from_owned_fd(stdout)?))))
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
