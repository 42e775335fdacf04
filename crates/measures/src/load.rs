//! Sandboxes, tools and load that measurements share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_model::{ByteSize, Limits, Outcome};
use belljar_sandbox::{Effect, Image, Program, Sandbox, SandboxError, SandboxOptions, ToolSet, Tools};
use serde_json::json;
use tokio::{
    sync::Notify,
    task::{JoinHandle, JoinSet},
};

/// A script that never ends.
pub const ENDLESS: &str = "while (true) {}";

/// A sandbox with so many slots and places in the queue.
///
/// # Errors
/// The machine is not suitable: it has too little address space, for example.
pub fn sandbox(max_live: u32, max_queued: u32) -> Result<Arc<Sandbox>, SandboxError> {
    let queue_timeout = Duration::from_secs(600);
    let (default, patient) = (SandboxOptions::default(), patient());
    // As many runs as there are slots, each with the limits of `patient`, whatever these are.
    let each = patient.memory.as_u64().saturating_add(patient.max_held.as_u64());
    let live_memory = ByteSize::b(each.saturating_mul(u64::from(max_live))).max(default.live_memory);
    let options = SandboxOptions { max_live, live_memory, max_queued, queue_timeout, ..default };
    Sandbox::new(&Image::embedded(), options).map(Arc::new)
}

/// Limits that end nothing within the time of a measurement.
pub fn patient() -> Limits {
    let hour = Duration::from_secs(3600);
    Limits {
        timeout: hour,
        compute: hour,
        wait: hour,
        call: hour,
        fuel: u64::MAX >> 1,
        memory: ByteSize::mib(16),
        ..Limits::default()
    }
}

/// Starts a run on a task of its own.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn start(sandbox: &Arc<Sandbox>, source: &'static str, limits: &Limits, tools: &Gate) -> JoinHandle<Outcome> {
    let (sandbox, limits, tools) = (sandbox.clone(), limits.clone(), tools.tools());
    tokio::spawn(async move { sandbox.run(Program::new(source)).limits(&limits).tools(tools).await })
}

/// Endless scripts, until they are dropped.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn endless(sandbox: &Arc<Sandbox>, count: usize) -> JoinSet<Outcome> {
    let mut runs = JoinSet::new();
    for _ in 0..count {
        let sandbox = sandbox.clone();
        runs.spawn(async move { sandbox.run(Program::new(ENDLESS)).limits(&patient()).await });
    }
    runs
}

/// A tool `box.wait` whose calls stay open until the gate is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<LoadState>);

#[derive(Default)]
struct LoadState {
    arrived: AtomicUsize,
    arrival: Notify,
    open: Notify,
}

impl Gate {
    /// The tool.
    pub fn tools(&self) -> Arc<dyn Tools> {
        let state = self.0.clone();
        Arc::new(ToolSet::new().with("box", "wait", Effect::ReadOnly, move |_| {
            let state = state.clone();
            async move {
                let open = state.open.notified();
                state.arrived.fetch_add(1, Ordering::AcqRel);
                state.arrival.notify_one();
                open.await;
                Ok(json!(1))
            }
        }))
    }

    /// Waits until so many calls wait at the gate.
    pub async fn arrived(&self, count: usize) {
        while self.0.arrived.load(Ordering::Acquire) < count {
            self.0.arrival.notified().await;
        }
    }

    /// Answers all calls that wait at it.
    pub fn open(&self) {
        self.0.open.notify_waiters();
    }
}
