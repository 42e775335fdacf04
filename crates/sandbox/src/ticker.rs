//! The thread that advances the engine's epoch while there are runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use wasmtime::Engine;

/// How often a computing run is interrupted: its deadline is checked and other runs get their turn.
pub(crate) const TICK: Duration = Duration::from_millis(2);

/// Advances the epoch every two milliseconds while there is a [`Running`], and sleeps otherwise.
pub struct Ticker {
    shared: Arc<Shared>,
    thread: Option<thread::JoinHandle<()>>,
}

struct Shared {
    live: AtomicUsize,
    stopped: AtomicBool,
}

/// Keeps the ticker going.
pub struct Running(Arc<Shared>);

impl Ticker {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { live: AtomicUsize::new(0), stopped: AtomicBool::new(false) });
        let of_thread = shared.clone();
        let thread = thread::Builder::new().name("belljar-epochs".to_owned()).spawn(move || {
            while !of_thread.stopped.load(Ordering::Acquire) {
                if of_thread.live.load(Ordering::Acquire) == 0 {
                    thread::park();
                } else {
                    thread::sleep(TICK);
                    engine.increment_epoch();
                }
            }
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Keeps ticking for as long as the returned value exists.
    pub fn running(&self) -> Running {
        if self.shared.live.fetch_add(1, Ordering::AcqRel) == 0 {
            self.wake();
        }
        Running(self.shared.clone())
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            Thread::unpark(thread.thread());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that can panic.
            let _ = thread.join();
        }
    }
}
