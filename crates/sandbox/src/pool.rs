//! The engine and its pool of slots.

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// What a warm slot keeps resident for the next run. Measured: without it, a run of `1+1` takes 33
/// page faults and three times as long. The guest's own stack, of 4 MiB, comes first, and a run
/// touches little of it.
const RESIDENT_BYTES: usize = 7 << 20;
const RESIDENT_STACK_BYTES: usize = 64 << 10;
/// The guest's table has some thousand functions.
const TABLE_ELEMENTS: usize = 20_000;
/// Components and their core modules have a bounded amount of metadata; the guest's is well below.
const INSTANCE_BYTES: usize = 1 << 20;
/// The guest is one module and a few shims.
const CORE_INSTANCES: u32 = 20;

/// Opens the file that the pool resets its slots with, if that has not been done: once per process,
/// and kept open.
///
/// An engine does this by itself. A process that makes itself unreadable for others
/// (`PR_SET_DUMPABLE`) must call this first: afterwards only root can open the file, and each run
/// would have to copy some megabytes more.
pub fn open_page_map() {
    // The query opens it.
    PoolingAllocationConfig::is_pagemap_scan_available();
}

/// An engine with a pool for `max_live` runs.
pub(crate) fn engine(max_live: u32) -> wasmtime::Result<Engine> {
    // `PAGEMAP_SCAN` (Linux 6.7) lets the pool reset only the pages that a run has touched. Older
    // kernels reset them all.
    match Engine::new(&config(max_live, Enabled::Yes)) {
        Ok(engine) => {
            tracing::debug!("slots are reset by the page map");
            Ok(engine)
        }
        Err(error) => {
            tracing::debug!("slots are reset whole: {error:#}");
            Engine::new(&config(max_live, Enabled::No))
        }
    }
}

fn config(max_live: u32, pagemap_scan: Enabled) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(max_live)
        .total_core_instances(max_live.saturating_mul(CORE_INSTANCES))
        .total_memories(max_live)
        .total_tables(max_live.saturating_mul(2))
        .total_stacks(max_live)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(1)
        .max_tables_per_component(2)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .table_elements(TABLE_ELEMENTS)
        // The limit of each run is enforced by its limiter; this is the address space that a slot
        // reserves.
        .max_memory_size(1 << 32)
        .linear_memory_keep_resident(RESIDENT_BYTES)
        .table_keep_resident(TABLE_ELEMENTS * size_of::<usize>())
        .async_stack_keep_resident(RESIDENT_STACK_BYTES)
        .max_unused_warm_slots(max_live)
        .pagemap_scan(pagemap_scan);
    let mut config = belljar_image::config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
