//! The engine's settings that affect the machine code.
//!
//! The build script includes this file: code that was compiled with other settings is refused when
//! it is loaded.

use wasmtime::{Config, Engine, OptLevel, wasmparser::WasmFeatures};

/// How much of the host's stack the guest's native frames may take.
const WASM_STACK_BYTES: usize = 8 << 20;
/// A fiber's whole stack. Host functions have what it has in addition to [`WASM_STACK_BYTES`].
const FIBER_STACK_BYTES: usize = 10 << 20;

/// Features that the guest does not need. They are named one by one, since wasmtime's defaults
/// depend on the features that it is built with: an embedder's own dependencies may turn on more of
/// them than the build script that compiles the image.
const UNUSED: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::GC_TYPES)
    .union(WasmFeatures::FUNCTION_REFERENCES)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::STACK_SWITCHING)
    .union(WasmFeatures::TAIL_CALL);

/// Settings for code that runs scripts: with fuel and epochs, and no feature that the guest does
/// not need.
pub(crate) fn config() -> Config {
    let mut config = common();
    config.consume_fuel(true).epoch_interruption(true);
    config
}

/// The same, for code that is not bounded and runs once: the guest's own `init` at build time.
#[allow(dead_code, reason = "the build script pre-initialises the guest")]
pub(crate) fn without_limits() -> Config {
    let mut config = common();
    // It runs for milliseconds, and compiling it well would take half a minute.
    config.cranelift_opt_level(OptLevel::None);
    config
}

fn common() -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .concurrency_support(false)
        .wasm_features(UNUSED, false)
        // Neither a debugger nor a profiler looks into the jar; both tables are a third of the
        // image.
        .generate_address_map(false)
        .native_unwind_info(cfg!(windows));
    config
}

/// An engine that compiles for any machine of `target`: on x86-64 for the baseline of 2009
/// (x86-64-v2), so that the embedded image fits, and is not compiled again, wherever it is likely
/// to run.
///
/// # Errors
/// The target is not one that wasmtime compiles for.
#[allow(dead_code, reason = "the library loads what the build script compiles")]
pub(crate) fn ahead_of_time(target: &str) -> wasmtime::Result<Engine> {
    let mut config = config();
    config.target(target)?.native_unwind_info(target.contains("windows"));
    if target.starts_with("x86_64") {
        for feature in ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"] {
            // SAFETY: the code is only loaded where `Component::deserialize` finds these features
            // present.
            #[allow(unsafe_code, reason = "the flag's safety is checked when the code is loaded")]
            unsafe {
                config.cranelift_flag_enable(feature);
            }
        }
    }
    Engine::new(&config)
}
