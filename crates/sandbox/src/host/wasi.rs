//! The part of WASI that Rust's standard library needs, implemented here without any file, socket
//! or environment variable behind it.
//!
//! Randomness comes from the run's own generator, which can be seeded. The seed for hash tables is
//! constant, since another one would change a script's fuel; flooding a hash table slows down only
//! its own script. Output is kept for error reports, in a bounded buffer. Imports that would wait
//! or read trap, since the guest does not use them.

use std::time::{Duration, SystemTime};

use belljar_recording::Clock;
use rand_chacha::rand_core::RngCore as _;
use wasmtime::{
    StoreContextMut,
    component::{ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType},
};

use super::state::RunState;

/// The interfaces linked here. With those of `belljar:sandbox` they are all that a guest may
/// import.
#[cfg(test)]
pub(crate) const INTERFACES: [&str; 17] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/random",
    "wasi:random/insecure-seed",
];
/// The version that the linker offers, which matches any compatible 0.2.
const VERSION: &str = "0.2.6";
/// The resolution of both clocks. Browsers give no finer one to pages that share a process, and
/// scripts do not need one. A coarse clock makes it harder to measure caches and other runs, but
/// not impossible: a script can count its own work between two ticks.
const CLOCK_RESOLUTION: Duration = Duration::from_millis(1);
/// The most bytes in one request for randomness.
const MAX_RANDOM: u64 = 64 * 1024;
/// The most bytes in one write, which `check-write` reports to the guest.
const MAX_WRITE: u64 = 64 * 1024;

/// The guest's handles of streams and terminals have no state.
struct OutputStream;
struct InputStream;
struct IoError;
struct Pollable;
struct TerminalInput;
struct TerminalOutput;

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

#[derive(ComponentType, Lift, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

type Context<'a> = StoreContextMut<'a, RunState>;

pub(super) fn link(linker: &mut Linker<RunState>) -> wasmtime::Result<()> {
    let mut environment = interface(linker, "wasi:cli/environment")?;
    environment.func_wrap("get-environment", |_: Context<'_>, (): ()| Ok((Vec::<(String, String)>::new(),)))?;
    environment.func_wrap("get-arguments", |_: Context<'_>, (): ()| Ok((Vec::<String>::new(),)))?;
    environment.func_wrap("initial-cwd", |_: Context<'_>, (): ()| Ok((None::<String>,)))?;
    interface(linker, "wasi:cli/exit")?.func_wrap(
        "exit",
        |_: Context<'_>, (_,): (Result<(), ()>,)| -> wasmtime::Result<()> {
            Err(wasmtime::Error::msg("the guest wanted to exit"))
        },
    )?;

    let mut poll = interface(linker, "wasi:io/poll")?;
    poll.resource("pollable", ResourceType::host::<Pollable>(), |_, _| Ok(()))?;
    // Only used for output streams, which are always ready.
    poll.func_wrap("[method]pollable.block", |_: Context<'_>, (_,): (Resource<Pollable>,)| Ok(()))?;
    interface(linker, "wasi:io/error")?.resource("error", ResourceType::host::<IoError>(), |_, _| Ok(()))?;
    link_streams(&mut interface(linker, "wasi:io/streams")?)?;
    interface(linker, "wasi:cli/stdin")?
        .func_wrap("get-stdin", |_: Context<'_>, (): ()| Ok((Resource::<InputStream>::new_own(0),)))?;
    for (name, function) in [("wasi:cli/stdout", "get-stdout"), ("wasi:cli/stderr", "get-stderr")] {
        interface(linker, name)?
            .func_wrap(function, |_: Context<'_>, (): ()| Ok((Resource::<OutputStream>::new_own(0),)))?;
    }

    interface(linker, "wasi:cli/terminal-input")?.resource(
        "terminal-input",
        ResourceType::host::<TerminalInput>(),
        |_, _| Ok(()),
    )?;
    interface(linker, "wasi:cli/terminal-output")?.resource(
        "terminal-output",
        ResourceType::host::<TerminalOutput>(),
        |_, _| Ok(()),
    )?;
    interface(linker, "wasi:cli/terminal-stdin")?
        .func_wrap("get-terminal-stdin", |_: Context<'_>, (): ()| Ok((None::<Resource<TerminalInput>>,)))?;
    for (name, function) in
        [("wasi:cli/terminal-stdout", "get-terminal-stdout"), ("wasi:cli/terminal-stderr", "get-terminal-stderr")]
    {
        interface(linker, name)?
            .func_wrap(function, |_: Context<'_>, (): ()| Ok((None::<Resource<TerminalOutput>>,)))?;
    }

    let mut monotonic_clock = interface(linker, "wasi:clocks/monotonic-clock")?;
    monotonic_clock.func_wrap("now", |mut store: Context<'_>, (): ()| {
        Ok((nanoseconds(store.data_mut().now(Clock::Monotonic)?),))
    })?;
    monotonic_clock.func_wrap("resolution", |_: Context<'_>, (): ()| Ok((nanoseconds(CLOCK_RESOLUTION),)))?;
    for function in ["subscribe-duration", "subscribe-instant"] {
        monotonic_clock
            .func_wrap(function, |_: Context<'_>, (_,): (u64,)| Err::<(Resource<Pollable>,), _>(no_waiting()))?;
    }
    let mut wall_clock = interface(linker, "wasi:clocks/wall-clock")?;
    wall_clock
        .func_wrap("now", |mut store: Context<'_>, (): ()| Ok((datetime(store.data_mut().now(Clock::Wall)?),)))?;
    wall_clock.func_wrap("resolution", |_: Context<'_>, (): ()| Ok((datetime(CLOCK_RESOLUTION),)))?;

    let mut random = interface(linker, "wasi:random/random")?;
    random.func_wrap("get-random-bytes", |mut store: Context<'_>, (count,): (u64,)| {
        if count > MAX_RANDOM {
            return Err(wasmtime::Error::msg("too many random bytes at once"));
        }
        let mut bytes = vec![0; usize::try_from(count)?];
        store.data_mut().random.fill_bytes(&mut bytes);
        Ok((bytes,))
    })?;
    random.func_wrap("get-random-u64", |mut store: Context<'_>, (): ()| Ok((store.data_mut().random.next_u64(),)))?;
    interface(linker, "wasi:random/insecure-seed")?
        .func_wrap("insecure-seed", |_: Context<'_>, (): ()| Ok(((0_u64, 0_u64),)))
}

fn link_streams(streams: &mut LinkerInstance<'_, RunState>) -> wasmtime::Result<()> {
    streams.resource("input-stream", ResourceType::host::<InputStream>(), |_, _| Ok(()))?;
    streams.resource("output-stream", ResourceType::host::<OutputStream>(), |_, _| Ok(()))?;
    streams.func_wrap("[method]output-stream.check-write", |_: Context<'_>, (_,): (Resource<OutputStream>,)| {
        Ok((Ok::<u64, StreamError>(MAX_WRITE),))
    })?;
    streams.func_wrap("[method]output-stream.subscribe", |_: Context<'_>, (_,): (Resource<OutputStream>,)| {
        Ok((Resource::<Pollable>::new_own(0),))
    })?;
    for function in ["[method]output-stream.write", "[method]output-stream.blocking-write-and-flush"] {
        streams.func_wrap(function, |mut store: Context<'_>, (_, bytes): (Resource<OutputStream>, Vec<u8>)| {
            store.data_mut().stderr.write(&bytes);
            Ok((Ok::<(), StreamError>(()),))
        })?;
    }
    for function in ["[method]output-stream.flush", "[method]output-stream.blocking-flush"] {
        streams
            .func_wrap(function, |_: Context<'_>, (_,): (Resource<OutputStream>,)| Ok((Ok::<(), StreamError>(()),)))?;
    }
    for function in ["[method]input-stream.read", "[method]input-stream.blocking-read"] {
        streams.func_wrap(function, |_: Context<'_>, (_, _): (Resource<InputStream>, u64)| {
            Ok((Err::<Vec<u8>, StreamError>(StreamError::Closed),))
        })?;
    }
    Ok(())
}

/// The guest waits only for tools and timers, through the imports for those.
fn no_waiting() -> wasmtime::Error {
    wasmtime::Error::msg("the guest wanted to wait through wasi:io")
}

fn interface<'linker>(
    linker: &'linker mut Linker<RunState>,
    name: &str,
) -> wasmtime::Result<LinkerInstance<'linker, RunState>> {
    linker.instance(&format!("{name}@{VERSION}"))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn datetime(duration: Duration) -> Datetime {
    Datetime { seconds: duration.as_secs(), nanoseconds: duration.subsec_nanos() }
}

impl RunState {
    /// The last tick of a clock. It ticks in milliseconds, the unit of recordings.
    fn now(&mut self, clock: Clock) -> wasmtime::Result<Duration> {
        let milliseconds = match &mut self.stand_in {
            Some(stand_in) => stand_in.clock(clock)?,
            None => whole_milliseconds(match clock {
                Clock::Wall => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
                Clock::Monotonic => self.meter.read().0,
            }),
        };
        self.recorder.clock(clock, milliseconds);
        Ok(Duration::from_millis(milliseconds))
    }
}

fn whole_milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use belljar_image::Image;
    use wasmtime::{Engine, component::types::ComponentItem};

    use super::*;

    /// The interfaces of belljar's own package.
    const OWN: [&str; 6] = [
        "belljar:sandbox/tools",
        "belljar:sandbox/catalog",
        "belljar:sandbox/console",
        "belljar:sandbox/timers",
        "belljar:sandbox/completions",
        "belljar:sandbox/workspace",
    ];

    #[test]
    fn the_built_component_imports_nothing_but_the_allow_list() {
        let engine = Engine::new(&belljar_image::config()).expect("an engine");
        let component = Image::embedded().load(&engine).expect("the image loads").component;
        let component_type = component.component_type();
        let mut imports = Vec::new();
        for (name, item) in component_type.imports(&engine) {
            assert!(matches!(item.ty, ComponentItem::ComponentInstance(_)), "{name} is not an interface");
            imports.push(name.split('@').next().unwrap_or_default().to_owned());
        }
        for import in &imports {
            assert!(
                INTERFACES.contains(&import.as_str()) || OWN.contains(&import.as_str()),
                "{import} is not on the allow-list"
            );
        }
        for forbidden in ["wasi:filesystem", "wasi:sockets", "wasi:http"] {
            assert!(!imports.iter().any(|import| import.starts_with(forbidden)), "{forbidden} is imported");
        }
        for own in OWN {
            assert!(imports.iter().any(|import| import == own), "{own} is not imported: is this the right component?");
        }
    }
}
