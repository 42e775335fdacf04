//! What each wall costs: the same scripts in engines with and without it, in turn.
//!
//! The shipped sandbox always has its walls. So these engines are built here, from the settings of
//! `crates/image`, and link only what a script without tools needs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use belljar_image::Image;
use wasmtime::{
    Engine, ResourceLimiter, Store, StoreContextMut, UpdateDeadline,
    component::{ComponentType, Lift, Linker, Lower},
};

use crate::MeasureError;

/// The interface, as generated from `wit/sandbox.wit`.
#[allow(missing_docs, unreachable_pub, dead_code, reason = "generated code")]
mod glass {
    wasmtime::component::bindgen!({ path: "wit", world: "interpreter", exports: { default: async } });
}

/// As the sandbox does it.
const TICK: Duration = Duration::from_millis(2);
const MEMORY_BYTES: usize = 256 << 20;

/// A script for comparing walls: its name, and its source.
pub const SCRIPTS: [(&str, &str); 5] = [
    (
        "a loop of 300,000 additions",
        "function f() { let s = 0; for (let i = 0; i < 300000; i++) s += i; return s } f()",
    ),
    ("fib(19)", "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); fib(19)"),
    (
        "JSON of 5,000 objects, there and back",
        "JSON.parse(JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id, name: 'n' + id })))).length",
    ),
    ("sorting 20,000 texts", "Array.from({ length: 20000 }, (_, i) => String((i * 7919) % 20011)).sort().length"),
    ("growing by 60 MB", "const all = []; for (let i = 0; i < 60; i++) all.push(new Uint8Array(1000000)); all.length"),
];

/// The walls of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walls {
    /// Their name.
    pub name: &'static str,
    /// The guest's work is counted.
    pub fuel: bool,
    /// The guest stops at each tick.
    pub epochs: bool,
    /// The guest's memory is bounded.
    pub limiter: bool,
}

impl Walls {
    /// No walls.
    pub const NONE: Self = Self { name: "none", fuel: false, epochs: false, limiter: false };
    /// Fuel only.
    pub const FUEL: Self = Self { name: "fuel", fuel: true, ..Self::NONE };
    /// Epochs only.
    pub const EPOCHS: Self = Self { name: "epochs", epochs: true, ..Self::NONE };
    /// The memory limiter only.
    pub const LIMITER: Self = Self { name: "limiter", limiter: true, ..Self::NONE };
    /// As belljar runs scripts. The program has machine code only for this one: the others are
    /// compiled, which takes seconds.
    pub const ALL: Self = Self { name: "all", fuel: true, epochs: true, limiter: true };
}

/// An engine with some walls, and the interpreter in it.
pub struct Jar {
    walls: Walls,
    engine: Engine,
    interpreter: glass::InterpreterPre<Memory>,
    stopped: Arc<AtomicBool>,
}

/// Like the sandbox's limiter: a comparison for each growth.
struct Memory;

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MEMORY_BYTES)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

#[derive(ComponentType, Lift, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

type Context<'a> = StoreContextMut<'a, Memory>;

impl Jar {
    /// An engine with these walls. Blocks while the interpreter is compiled.
    ///
    /// # Errors
    /// The engine cannot be set up, or does not accept the interpreter.
    pub fn new(walls: Walls) -> Result<Self, MeasureError> {
        let mut config = belljar_image::config();
        config.consume_fuel(walls.fuel).epoch_interruption(walls.epochs);
        let engine = Engine::new(&config)?;
        let loaded = Image::embedded().load(&engine).map_err(|error| MeasureError::Engine(error.to_string()))?;
        let component = loaded.component;
        let mut linker = Linker::new(&engine);
        let mut random = linker.instance("wasi:random/insecure-seed@0.2.6")?;
        random.func_wrap("insecure-seed", |_: Context<'_>, (): ()| Ok(((0_u64, 0_u64),)))?;
        let mut clock = linker.instance("wasi:clocks/monotonic-clock@0.2.6")?;
        clock.func_wrap("now", |_: Context<'_>, (): ()| Ok((0_u64,)))?;
        let mut clock = linker.instance("wasi:clocks/wall-clock@0.2.6")?;
        clock.func_wrap("now", |_: Context<'_>, (): ()| Ok((Datetime { seconds: 0, nanoseconds: 0 },)))?;
        let mut console = linker.instance("belljar:sandbox/console@0.1.0")?;
        console.func_wrap("at", |_: Context<'_>, _: (u32, u32)| Ok(()))?;
        linker.define_unknown_imports_as_traps(&component)?;
        let interpreter = glass::InterpreterPre::new(linker.instantiate_pre(&component)?)?;
        let stopped = Arc::new(AtomicBool::new(false));
        if walls.epochs {
            let (engine, stopped) = (engine.clone(), stopped.clone());
            thread::spawn(move || {
                while !stopped.load(Ordering::Acquire) {
                    thread::sleep(TICK);
                    engine.increment_epoch();
                }
            });
        }
        Ok(Self { walls, engine, interpreter, stopped })
    }

    /// Which walls stand.
    pub fn walls(&self) -> Walls {
        self.walls
    }

    /// Makes an instance and throws it away.
    ///
    /// # Errors
    /// It cannot be made.
    pub async fn instantiate(&self) -> Result<(), MeasureError> {
        let mut store = self.store()?;
        self.interpreter.instantiate_async(&mut store).await?;
        Ok(())
    }

    fn store(&self) -> Result<Store<Memory>, MeasureError> {
        let mut store = Store::new(&self.engine, Memory);
        if self.walls.limiter {
            store.limiter(|memory| memory);
        }
        if self.walls.fuel {
            store.set_fuel(u64::MAX >> 1)?;
        }
        if self.walls.epochs {
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        }
        Ok(store)
    }

    /// How long a script takes in a fresh instance. The script must succeed.
    ///
    /// # Errors
    /// The script fails, or the instance does.
    pub async fn run(&self, source: &str) -> Result<Duration, MeasureError> {
        let program = glass::Program {
            source: source.to_owned(),
            prelude: None,
            namespaces: Vec::new(),
            functions: Vec::new(),
            builtins: true,
            globals: glass::Globals::empty(),
            extended_value: false,
            max_output: 1 << 16,
            max_arguments: 1 << 16,
            only_plan: false,
            only_signature: false,
        };
        let begun = Instant::now();
        let mut store = self.store()?;
        let instance = self.interpreter.instantiate_async(&mut store).await?;
        let ended = instance.call_run(&mut store, &program).await;
        drop(store);
        let time = begun.elapsed();
        match ended? {
            Ok(_) => Ok(time),
            Err(fault) => Err(MeasureError::Engine(fault.message)),
        }
    }
}

impl Drop for Jar {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
    }
}

/// The fastest time of a script in each of some engines, which take turns: other work of the
/// machine can only add time.
///
/// # Errors
/// As [`Jar::run`].
pub async fn fastest(jars: &[Jar], source: &str, rounds: usize) -> Result<Vec<Duration>, MeasureError> {
    let mut fastest = vec![Duration::MAX; jars.len()];
    for _ in 0..rounds {
        for (jar, fastest) in jars.iter().zip(&mut fastest) {
            *fastest = (*fastest).min(jar.run(source).await?);
        }
    }
    Ok(fastest)
}
