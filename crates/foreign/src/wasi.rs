//! WASI for components: a context that grants nothing.
//!
//! There are no files, no sockets, no environment, no arguments and no input. What a standard
//! library probes at its start is answered, with a refusal where it asks for something; nothing
//! traps. The clocks begin with the run, its numbers come from the run's seed, and what is written
//! to stdout and stderr are the run's logs.

use std::{
    convert::Infallible,
    time::{Duration, Instant, SystemTime},
};

use belljar_recording::Clock;
use rand_chacha::{
    ChaCha12Rng,
    rand_core::{RngCore as _, SeedableRng as _},
};
use rand_core::TryRng;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder};

use crate::{logs::Logs, tape::Tape};

/// Handles of streams, pollables and errors that a component may have at once.
const MAX_HANDLES: usize = 10_000;
/// Random bytes that it may ask for at once.
const MAX_RANDOM_BYTES: u64 = 1 << 20;
/// Nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// A context that grants nothing.
pub(crate) fn context(seed: [u8; 32], logs: &Logs, tape: &Tape) -> WasiCtx {
    let mut random = ChaCha12Rng::from_seed(seed);
    let (mut insecure, mut hashes) = ([0; 32], [0; 16]);
    random.fill_bytes(&mut insecure);
    random.fill_bytes(&mut hashes);
    let clock = RunClock { began: Instant::now(), at: SystemTime::now(), tape: tape.clone() };
    let mut context = WasiCtxBuilder::new();
    context
        .stdout(logs.stdout())
        .stderr(logs.stderr())
        .wall_clock(clock.clone())
        .monotonic_clock(clock)
        .secure_random(Numbers(random))
        .insecure_random(Numbers(ChaCha12Rng::from_seed(insecure)))
        .insecure_random_seed(u128::from_le_bytes(hashes))
        .max_random_size(MAX_RANDOM_BYTES)
        // No socket is made: the system is not even asked.
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    context.build()
}

/// A table with room for so many handles.
pub(crate) fn table() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_HANDLES);
    table
}

/// The run's clock. It shows milliseconds: fewer readings to record, and no clock to measure the
/// machine with.
#[derive(Clone)]
struct RunClock {
    began: Instant,
    at: SystemTime,
    tape: Tape,
}

impl HostWallClock for RunClock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.tape.clock(Clock::Wall, || {
            let at = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            milliseconds(at.saturating_add(self.began.elapsed()))
        }))
    }
}

impl HostMonotonicClock for RunClock {
    fn resolution(&self) -> u64 {
        MILLISECOND
    }

    fn now(&self) -> u64 {
        self.tape.clock(Clock::Monotonic, || milliseconds(self.began.elapsed())).saturating_mul(MILLISECOND)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The run's numbers.
struct Numbers(ChaCha12Rng);

impl TryRng for Numbers {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}
