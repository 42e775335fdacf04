//! What components may be made of.

use wasmtime::wasmparser::WasmFeatures;

/// What no toolchain needs. Each of them is machinery that a hostile component could try.
pub(crate) const UNUSED: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::GC_TYPES)
    .union(WasmFeatures::FUNCTION_REFERENCES)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::STACK_SWITCHING)
    .union(WasmFeatures::TAIL_CALL);
