//! The engine's process: it sets up a sandbox, gives up all else, and runs what the gateway sends.
//!
//! The order of its first steps is what its walls rest on. See [`serve`].

mod runs;
mod tools;

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

/// Bytes of the first frame.
const MAX_HELLO: u32 = 1024;

/// Is the engine's process: reads runs from stdin until it is closed, and writes what becomes of
/// them to stdout.
///
/// `arguments` are those after the ones that select the role. To be called before anything else, by
/// a process that has one thread:
///
/// 1. The process is bound to its parent, and inherited files are closed.
/// 2. What resets the memory of slots is opened, then the process is hidden from others of the same
///    user.
/// 3. Files are taken away (landlock), so that all threads that are started from here on have none.
/// 4. The engine is set up: machine code is mapped, threads are started, and a first run has
///    touched all that a run touches.
/// 5. All but a few system calls are taken away from all threads (seccomp), and the limits of what
///    can be taken are lowered: of descriptors, processes and files to nothing, of memory to what
///    its runs may take.
///
/// Only then it says that it is ready, and reads the first script. What the system cannot give ends
/// it, with the reason.
pub fn serve(arguments: impl Iterator<Item = OsString>, image: &Image) -> ExitCode {
    match start(arguments, image) {
        Ok(served) => served,
        Err(reason) => {
            // If nobody reads it, nobody waits for it.
            let _ = io::Write::write_all(&mut io::stdout(), &from_worker::failed(&reason));
            let _ = io::Write::flush(&mut io::stdout());
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: impl Iterator<Item = OsString>, image: &Image) -> Result<ExitCode, String> {
    let bounds = Bounds { memory: None, descriptors: None, processor_time: None };
    Role::begin_after(arguments, bounds, 0, belljar_sandbox::open_page_map).map_err(|error| error.to_string())?;
    // Not through std's stdin, which reads ahead.
    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let mut stdin = File::from(stdin);
    let options = hello(&mut stdin).map_err(|error| format!("the gateway's first frame cannot be read: {error}"))?;

    belljar_confine::engine::before_threads().map_err(|fault| fault.to_string())?;
    let sandbox = Sandbox::new(image, options.clone()).map_err(|error| error.to_string())?;
    // As many as can compute. A further one is woken at every call, and finds nothing to do. While
    // all of them compute, the pipe is read between two turns, as sockets are where scripts run in
    // the gateway's process.
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
        // On a thread of the runtime, where what it wakes runs next.
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

/// Runs once what all runs do, so that nothing is made for the first time after the walls stand:
/// the snapshot's file in memory is one such thing, which takes calls that no later run needs.
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
