//! The process of one component: it reads the component, reports its imports, compiles it, gives up
//! what it needed for that, and runs it.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::AsFd as _,
    process::ExitCode,
    sync::Arc,
};

use belljar_foreign::{Component, Components, Imports, MAX_COMPONENT_BYTES, Order, from_file};
use belljar_model::{ErrorKind, Outcome, RunError};
use belljar_sandbox::{ReplayError, RunRequest, Runner, SandboxOptions};
use belljar_worker::{Bounds, Role};
use futures::future::BoxFuture;
use tokio::io::BufReader;

use super::{
    hello,
    jar::{self, Jar, Replay},
    pipes, runs,
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

/// The number of threads of the runtime: one for the run, one for the pipe.
const THREADS: usize = 2;

/// A component, and what runs it.
struct Ready {
    components: Components,
    component: Component,
}

/// The main function of a component's process: it reads a component from stdin, and then what to do
/// with it, until stdin is closed.
///
/// `arguments` are those after the ones that select the role. This must be called before anything
/// else, in a process with a single thread. Its steps are:
///
/// 1. The process is bound to its parent, and inherited files are closed.
/// 2. It is hidden from others of the same user.
/// 3. File access is denied (landlock), and so are sockets, programs and other processes (a first
///    filter of seccomp); memory is bounded. Only then are the component's bytes read.
/// 4. The component is validated, and its imports are reported.
/// 5. When the gateway asks for it, the component is compiled.
/// 6. All but a few system calls are denied to all threads (seccomp): nothing can be opened,
///    connected, started or made executable any more.
///
/// Only then does the process report that it is ready. If the system refuses any of this, the
/// process ends, and reports the reason.
pub fn serve_component(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match start(arguments) {
        Ok(served) => served,
        Err(reason) => {
            // If this fails, nobody reads it, and nobody waits for it.
            let _ = write(&from_worker::failed(&reason));
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let bounds = Bounds { memory: None, descriptors: None, processor_time: None };
    Role::begin_after(arguments, bounds, 0, belljar_sandbox::open_page_map).map_err(|error| error.to_string())?;
    // std's stdin reads ahead, so it is not used.
    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let mut stdin = File::from(stdin);
    let unread = |fault: io::Error| format!("belljar's frames cannot be read: {fault}");
    let options = hello(&mut stdin).map_err(unread)?;

    belljar_confine::engine::before_threads().map_err(|fault| fault.to_string())?;
    belljar_confine::engine::bound_memory(memory::most_mapped_by_component(&options))
        .map_err(|fault| fault.to_string())?;
    belljar_confine::engine::before_compiling().map_err(|fault| fault.to_string())?;
    let file = frame(&mut stdin, to_worker::COMPONENT, MAX_COMPONENT_BYTES).map_err(unread)?;
    let imports = match from_file(&file).and_then(|component| Imports::read(&component)) {
        Ok(imports) => imports,
        Err(refusal) => return Err(refusal.report()),
    };
    let imports = serde_json::to_string(&imports).map_err(|fault| fault.to_string())?;
    write(&from_worker::imports(&imports)).map_err(|fault| fault.to_string())?;
    match frame(&mut stdin, to_worker::COMPILE, 0) {
        Ok(_) => {}
        // The component is not to be compiled.
        Err(fault) if fault.kind() == io::ErrorKind::UnexpectedEof => return Ok(ExitCode::SUCCESS),
        Err(fault) => return Err(unread(fault)),
    }
    let ready = compiled(&file, &options)?;
    drop(file);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot be started: {error}"))?;
    let (from, outbox) = runtime.block_on(pipes(stdin, stdout)).map_err(|error| error.to_string())?;
    belljar_confine::engine::before_work().map_err(|fault| fault.to_string())?;

    outbox.send(from_worker::ready());
    let served = runtime.block_on(async {
        let flushed: Arc<Outbox> = outbox.clone();
        let flushing = tokio::spawn(async move { flushed.flush().await });
        let served = tokio::spawn(runs::serve(BufReader::new(from), Arc::new(ready), outbox)).await;
        flushing.abort();
        served
    });
    if let Ok(Err(error)) = served {
        tracing::error!("belljar cannot be understood: {error}");
    }
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn compiled(file: &[u8], options: &SandboxOptions) -> Result<Ready, String> {
    let components = Components::new(options.max_live).map_err(|error| error.to_string())?;
    let component = components.component(file).map_err(|refusal| refusal.report())?;
    Ok(Ready { components, component })
}

/// The body of the next frame, which must be of this kind.
fn frame(stdin: &mut File, kind: u8, max: usize) -> io::Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    stdin.read_exact(&mut header)?;
    let header = Header::parse(header);
    if header.kind != kind || header.length as usize > max {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; header.length as usize];
    stdin.read_exact(&mut body)?;
    Ok(body)
}

fn write(frame: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(frame)?;
    stdout.flush()
}

impl Ready {
    async fn outcome_of(&self, request: RunRequest<'_>) -> Outcome {
        let RunRequest { program, limits, tools, cancelled } = request;
        let Some((servers, input)) = Order::parse(&program.source) else {
            return Outcome::refused(RunError::new(ErrorKind::Internal, "the order of the run cannot be read"));
        };
        let linked = match self.components.link(&self.component, &servers) {
            Ok(linked) => linked,
            Err(refusal) => return Outcome::refused(refusal.error()),
        };
        let mut run = self.components.run(&linked).limits(&limits).tools(tools).cancel_on(cancelled);
        if let Some(max) = program.max_recording {
            run = run.recording(max).ordered(program.source);
        }
        if let Some(seed) = program.seed {
            run = run.seed(seed);
        }
        match input {
            Some(input) => run.input(input).await,
            None => run.await,
        }
    }
}

impl Runner for Ready {
    fn begin<'a>(&'a self, request: RunRequest<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(self.outcome_of(request))
    }
}

impl Jar for Ready {
    fn replay<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Outcome, ReplayError>> {
        Box::pin(async move {
            let Replay { ceiling, recording, .. } = jar::parsed(body)?;
            self.components.replay(&self.component, &recording, &ceiling).await
        })
    }
}
