//! The engine for components of others. It has its own pool, whose slots are large enough for what
//! toolchains produce, while those of the interpreter stay small.

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use crate::features::UNUSED;

/// How much of the host's stack a component's frames may take.
const WASM_STACK_BYTES: usize = 2 << 20;
/// The whole stack of a fiber. Host functions have only what exceeds [`WASM_STACK_BYTES`].
const FIBER_STACK_BYTES: usize = 4 << 20;
/// The most core instances of one component: CPython with stubs has 38.
pub(crate) const CORE_INSTANCES: u32 = 64;
/// The most memories: QuickJS has three, two of them empty.
pub(crate) const MEMORIES: u32 = 4;
/// The most tables: QuickJS has three.
pub(crate) const TABLES: u32 = 8;
/// The most elements of a table: StarlingMonkey has 7,689.
pub(crate) const TABLE_ELEMENTS: usize = 20_000;
/// The most bytes of metadata for one instance: CPython needs much less.
const INSTANCE_BYTES: usize = 4 << 20;
/// How many bytes of a warm slot stay resident for the next run.
const RESIDENT_BYTES: usize = 2 << 20;
const RESIDENT_STACK_BYTES: usize = 64 << 10;

/// An engine with a pool for `max_live` runs.
pub(crate) fn engine(max_live: u32) -> wasmtime::Result<Engine> {
    match Engine::new(&config(max_live, Enabled::Yes)) {
        Ok(engine) => Ok(engine),
        // Kernels before Linux 6.7 cannot tell which pages a run has touched.
        Err(_) => Engine::new(&config(max_live, Enabled::No)),
    }
}

fn config(max_live: u32, pagemap_scan: Enabled) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(max_live)
        .total_core_instances(max_live.saturating_mul(CORE_INSTANCES))
        .total_memories(max_live.saturating_mul(MEMORIES))
        .total_tables(max_live.saturating_mul(TABLES))
        .total_stacks(max_live.saturating_mul(4))
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .table_elements(TABLE_ELEMENTS)
        // The run's limiter enforces its limit; this is what a slot reserves.
        .max_memory_size(1 << 32)
        .linear_memory_keep_resident(RESIDENT_BYTES)
        .table_keep_resident(TABLE_ELEMENTS * size_of::<usize>())
        .async_stack_keep_resident(RESIDENT_STACK_BYTES)
        .max_unused_warm_slots(max_live)
        .pagemap_scan(pagemap_scan);
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .consume_fuel(true)
        .epoch_interruption(true)
        .wasm_component_model_async(true)
        .wasm_features(UNUSED, false)
        .generate_address_map(false)
        .native_unwind_info(cfg!(windows))
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
