//! Starts a worker process.
//!
//! One thread that lives as long as this process starts them all. A worker asks the system to kill
//! it when its parent dies, and on Linux the parent is the thread that started it: a runtime's
//! thread may end long before its process does.

use std::{ffi::OsString, io, path::PathBuf, process::Stdio, sync::mpsc, thread};

use parking_lot::Mutex;
use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

/// As the system's headers have it.
#[cfg(windows)]
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// A program that can be a worker: usually the running one, with the arguments that select its
/// role.
#[derive(Debug, Clone)]
pub struct WorkerProgram {
    /// The program's file.
    pub program: PathBuf,
    /// The arguments that select the role. The number of the parent process follows, for
    /// [`Role::begin`](crate::Role::begin).
    pub arguments: Vec<OsString>,
}

/// Why a worker could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system refused to start the program.
    #[error("the worker process '{}' cannot be started: {source}", .program.display())]
    CannotExecute {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Starts the program with an empty environment and with pipes. It is killed when the child is
/// dropped.
pub(crate) async fn start(program: &WorkerProgram) -> Result<Child, StartError> {
    let mut command = Command::new(&program.program);
    command
        .args(&program.arguments)
        .arg(std::process::id().to_string())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Ctrl-C at a terminal is for the program, which ends its workers when it no longer needs them.
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(windows)]
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    let (answer, started) = oneshot::channel();
    let handed_over = hand_over(Order { command, runtime: Handle::current(), answer });
    let started = match handed_over {
        Ok(()) => started.await.unwrap_or_else(|_| Err(io::Error::other("the thread that starts workers has ended"))),
        Err(error) => Err(error),
    };
    started.map_err(|source| StartError::CannotExecute { program: program.program.clone(), source })
}

/// A process to be started.
struct Order {
    command: Command,
    /// The runtime that waits for its pipes.
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Sends an order to the thread that starts workers, which the first order starts.
fn hand_over(order: Order) -> io::Result<()> {
    static ORDERS: Mutex<Option<mpsc::Sender<Order>>> = Mutex::new(None);
    let mut orders = ORDERS.lock();
    let sender = match &*orders {
        Some(sender) => sender,
        None => {
            // Not bounded: callers bound their workers, and an order is handled at once.
            let (sender, received) = mpsc::channel();
            thread::Builder::new().name("belljar-workers".to_owned()).spawn(move || start_all(received))?;
            orders.insert(sender)
        }
    };
    sender.send(order).map_err(|_| io::Error::other("the thread that starts workers has ended"))
}

fn start_all(orders: mpsc::Receiver<Order>) {
    for Order { mut command, runtime, answer } in orders {
        let _entered = runtime.enter();
        // A caller that is gone drops its process, which kills it.
        let _ = answer.send(command.spawn());
    }
}
