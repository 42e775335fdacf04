//! What each wall costs: the same scripts in engines with and without it, in turn.
//!
//! The shipped sandbox cannot be had without its walls. So these engines are made here, from the settings of `crates/image`, and link
//! nothing but what a script without tools needs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use belljar_image::Image;
use tokio::runtime::Runtime;
use wasmtime::{
    Engine, ResourceLimiter, Store, StoreContextMut, UpdateDeadline,
    component::{ComponentType, Lift, Linker, Lower},
};

/// The glass, as generated from `wit/sandbox.wit`.
#[allow(missing_docs, unreachable_pub, dead_code, reason = "generated code")]
mod glass {
    wasmtime::component::bindgen!({ path: "../wit", world: "interpreter", exports: { default: async } });
}

/// Rounds of which the fastest counts: what else the machine does only ever adds.
const ROUNDS: usize = 15;
/// As the sandbox does it.
const TICK: Duration = Duration::from_millis(2);
const MEMORY_BYTES: usize = 256 << 20;

const SCRIPTS: [(&str, &str); 5] = [
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

/// Which walls stand.
#[derive(Clone, Copy)]
struct Walls {
    name: &'static str,
    fuel: bool,
    epochs: bool,
    limiter: bool,
}

const NONE: Walls = Walls { name: "none", fuel: false, epochs: false, limiter: false };
const WALLS: [Walls; 5] = [
    NONE,
    Walls { name: "fuel", fuel: true, ..NONE },
    Walls { name: "epochs", epochs: true, ..NONE },
    Walls { name: "limiter", limiter: true, ..NONE },
    Walls { name: "all", fuel: true, epochs: true, limiter: true },
];

pub(crate) fn measure(runtime: &Runtime) {
    let jars: Vec<Jar> = WALLS.into_iter().map(Jar::new).collect();
    println!("What each wall costs, as a multiple of the time without any");
    let names: Vec<String> = WALLS.iter().skip(1).map(|walls| format!("{:>8}", walls.name)).collect();
    println!("{:40} {:>9} {}", "", "none, ms", names.join(" "));
    for (name, source) in SCRIPTS {
        let mut best = [Duration::MAX; WALLS.len()];
        for _ in 0..ROUNDS {
            for (jar, best) in jars.iter().zip(&mut best) {
                *best = (*best).min(runtime.block_on(jar.run(source)));
            }
        }
        let ratios: Vec<String> =
            best.iter().skip(1).map(|time| format!("{:>8.3}", time.as_secs_f64() / best[0].as_secs_f64())).collect();
        println!("{name:40} {:>9.2} {}", best[0].as_secs_f64() * 1e3, ratios.join(" "));
    }
    println!();
}

/// An engine with some walls, and the interpreter in it.
struct Jar {
    walls: Walls,
    engine: Engine,
    interpreter: glass::InterpreterPre<Memory>,
    stopped: Arc<AtomicBool>,
}

/// As the sandbox's limiter: a comparison for each growth.
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
    fn new(walls: Walls) -> Self {
        let mut config = belljar_image::config();
        config.consume_fuel(walls.fuel).epoch_interruption(walls.epochs);
        let engine = Engine::new(&config).unwrap();
        let component = Image::embedded().load(&engine).unwrap().component;
        let mut linker = Linker::new(&engine);
        let mut random = linker.instance("wasi:random/insecure-seed@0.2.6").unwrap();
        random.func_wrap("insecure-seed", |_: Context<'_>, (): ()| Ok(((0_u64, 0_u64),))).unwrap();
        let mut clock = linker.instance("wasi:clocks/monotonic-clock@0.2.6").unwrap();
        clock.func_wrap("now", |_: Context<'_>, (): ()| Ok((0_u64,))).unwrap();
        let mut clock = linker.instance("wasi:clocks/wall-clock@0.2.6").unwrap();
        clock.func_wrap("now", |_: Context<'_>, (): ()| Ok((Datetime { seconds: 0, nanoseconds: 0 },))).unwrap();
        linker.define_unknown_imports_as_traps(&component).unwrap();
        let interpreter = glass::InterpreterPre::new(linker.instantiate_pre(&component).unwrap()).unwrap();
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
        Self { walls, engine, interpreter, stopped }
    }

    async fn run(&self, source: &str) -> Duration {
        let program = glass::Program {
            source: source.to_owned(),
            namespaces: Vec::new(),
            max_output: 1 << 16,
            max_arguments: 1 << 16,
        };
        let begun = Instant::now();
        let mut store = Store::new(&self.engine, Memory);
        if self.walls.limiter {
            store.limiter(|memory| memory);
        }
        if self.walls.fuel {
            store.set_fuel(u64::MAX >> 1).unwrap();
        }
        if self.walls.epochs {
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        }
        let instance = self.interpreter.instantiate_async(&mut store).await.unwrap();
        let ended = store.run_concurrent(async |accessor| instance.call_run(accessor, program).await).await;
        drop(store);
        let time = begun.elapsed();
        let value = ended.unwrap().unwrap();
        assert!(value.is_ok(), "{}", value.unwrap_err().message);
        time
    }
}

impl Drop for Jar {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
    }
}
