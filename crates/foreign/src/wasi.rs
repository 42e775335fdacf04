//! WASI for components: a context that grants nothing.
//!
//! A component gets no environment, arguments or input; [`withheld`](crate::withheld) has files and
//! sockets. Whatever a standard library probes when it starts is answered, with a refusal if it
//! asks for access; nothing traps. The clocks begin with the run, random numbers come from the
//! run's seed, and anything written to stdout and stderr becomes the run's logs.

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
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiView as _,
    cli::{WasiCli, WasiCliView as _},
    clocks::{WasiClocks, WasiClocksView as _},
    p2::bindings::{cli, clocks, random, sockets},
    random::WasiRandom,
    sockets::{WasiSockets, WasiSocketsView as _},
};
use wasmtime_wasi_io::bindings::wasi::io::{error, poll, streams};

use crate::{logs::Logs, polls::HasPolls, run::RunState, tape::Tape};

/// The most handles of streams, pollables and errors that a component may have at once.
const MAX_HANDLES: usize = 10_000;
/// The most random bytes that it may request at once.
const MAX_RANDOM_BYTES: u64 = 1 << 20;
/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Links the interfaces that this context serves.
pub(crate) fn add_to_linker(linker: &mut Linker<RunState>) -> wasmtime::Result<()> {
    let l = linker;
    error::add_to_linker::<_, Streams>(l, |run| run.ctx().table)?;
    streams::add_to_linker::<_, Streams>(l, |run| run.ctx().table)?;
    poll::add_to_linker::<_, HasPolls>(l, RunState::polls)?;
    clocks::wall_clock::add_to_linker::<_, WasiClocks>(l, RunState::clocks)?;
    clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(l, RunState::clocks)?;
    random::random::add_to_linker::<_, WasiRandom>(l, |run| run.ctx().ctx.random())?;
    random::insecure::add_to_linker::<_, WasiRandom>(l, |run| run.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<_, WasiRandom>(l, |run| run.ctx().ctx.random())?;
    cli::exit::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::environment::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::stdin::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::stdout::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::stderr::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::terminal_stdin::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::terminal_stdout::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    cli::terminal_stderr::add_to_linker::<_, WasiCli>(l, RunState::cli)?;
    sockets::network::add_to_linker::<_, WasiSockets>(l, &sockets::network::LinkOptions::default(), RunState::sockets)?;
    sockets::instance_network::add_to_linker::<_, WasiSockets>(l, RunState::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<_, WasiSockets>(l, RunState::sockets)
}

/// Gives access to the table of streams.
struct Streams;

impl HasData for Streams {
    type Data<'a> = &'a mut ResourceTable;
}

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
        // No name is looked up. (And no socket would be created, even if sockets were linked.)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    context.build()
}

/// A table with room for [`MAX_HANDLES`] handles.
pub(crate) fn table() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_HANDLES);
    table
}

/// The run's clock. It only shows milliseconds: there are fewer readings to record, and it cannot
/// be used to measure the machine.
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
        // It begins at one, because the runtime of Go takes zero to mean that the clock does not
        // work.
        let now = || milliseconds(self.began.elapsed()).saturating_add(1);
        self.tape.clock(Clock::Monotonic, now).saturating_mul(MILLISECOND)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The run's random numbers.
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
