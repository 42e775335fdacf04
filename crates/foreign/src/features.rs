//! The features that components may use.

use wasmtime::wasmparser::WasmFeatures;

/// Features that no toolchain needs. Each of them would give a hostile component something to
/// attack.
pub(crate) const UNUSED: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::GC_TYPES)
    .union(WasmFeatures::FUNCTION_REFERENCES)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::STACK_SWITCHING)
    .union(WasmFeatures::TAIL_CALL);
