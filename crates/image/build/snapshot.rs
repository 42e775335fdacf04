//! Runs the guest's `init` and keeps the memory that it leaves.

use wasmtime::{
    Engine, Store, StoreContextMut,
    component::{Component, Linker},
};
use wasmtime_wizer::Wizer;

/// The component as it is after `init`.
///
/// Every import traps: what ends in the snapshot cannot have read a clock, drawn a random number or
/// seen this machine. The one exception is the seed of hash tables, which is a constant for every
/// run (see `crates/sandbox/src/host/wasi.rs`).
pub(crate) fn pre_initialise(component: &[u8]) -> Vec<u8> {
    let engine = Engine::new(&crate::engine::without_limits()).expect("the engine's settings are valid");
    let mut store = Store::new(&engine, ());
    let instantiate = async |store: &mut Store<()>, component: &Component| {
        let mut linker = Linker::new(store.engine());
        linker
            .instance("wasi:random/insecure-seed@0.2.6")?
            .func_wrap("insecure-seed", |_: StoreContextMut<'_, ()>, (): ()| Ok(((0_u64, 0_u64),)))?;
        linker.define_unknown_imports_as_traps(component)?;
        linker.instantiate_async(store, component).await
    };
    let mut wizer = Wizer::new();
    wizer.init_func("init").keep_init_func(true);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime without I/O needs nothing");
    let (snapshot, _) = runtime
        .block_on(wizer.run_component(&mut store, component, instantiate))
        .unwrap_or_else(|error| panic!("the guest cannot be pre-initialised: {error:?}"));
    snapshot
}
