//! Runs the guest's `init` and keeps the memory that it leaves.

use wasmtime::{
    Engine, Store, StoreContextMut,
    component::{Component, Instance, Lift, Linker, WasmList},
};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

/// The component as it is after `init`.
///
/// Every import traps: what ends in the snapshot cannot have read a clock, drawn a random number or
/// seen this machine. The one exception is the seed of hash tables, which is a constant for every
/// run (see `crates/sandbox/src/host/wasi.rs`).
pub(crate) fn pre_initialise(component: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime without I/O needs nothing");
    runtime.block_on(run(component)).unwrap_or_else(|error| panic!("the guest cannot be pre-initialised: {error:?}"))
}

async fn run(component: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.init_func("init").keep_init_func(true);
    let (context, instrumented) = wizer.instrument_component(component)?;

    let engine = Engine::new(&crate::engine::without_limits())?;
    let component = Component::new(&engine, instrumented)?;
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    linker
        .instance("wasi:random/insecure-seed@0.2.6")?
        .func_wrap("insecure-seed", |_: StoreContextMut<'_, ()>, (): ()| Ok(((0_u64, 0_u64),)))?;
    linker.define_unknown_imports_as_traps(&component)?;
    let instance = linker.instantiate_async(&mut store, &component).await?;
    instance.get_typed_func::<(), ()>(&mut store, "init")?.call_async(&mut store, ()).await?;
    wizer.snapshot_component(&context, &mut Initialised { store, instance }).await
}

/// The guest after `init`, asked for its memory and globals through the functions that wizer has
/// put into it. (wizer's own way of asking comes with a feature that `Cargo.toml` leaves out.)
struct Initialised {
    store: Store<()>,
    instance: Instance,
}

impl Initialised {
    async fn call<R: Lift + 'static>(&mut self, instance: &str, function: &str) -> R {
        let instance = self.instance.get_export_index(&mut self.store, None, instance).expect("wizer has added it");
        let function =
            self.instance.get_export_index(&mut self.store, Some(&instance), function).expect("wizer has added it");
        let function = self
            .instance
            .get_typed_func::<(), (R,)>(&mut self.store, function)
            .expect("wizer knows the type of what it has added");
        let (result,) =
            function.call_async(&mut self.store, ()).await.expect("what wizer has added reads memory and globals");
        result
    }
}

impl ComponentInstanceState for Initialised {
    async fn call_func_ret_list_u8(&mut self, instance: &str, func: &str, contents: impl FnOnce(&[u8]) + Send) {
        let list: WasmList<u8> = self.call(instance, func).await;
        contents(list.as_le_slice(&self.store));
    }

    async fn call_func_ret_s32(&mut self, instance: &str, func: &str) -> i32 {
        self.call(instance, func).await
    }

    async fn call_func_ret_s64(&mut self, instance: &str, func: &str) -> i64 {
        self.call(instance, func).await
    }

    async fn call_func_ret_f32(&mut self, instance: &str, func: &str) -> u32 {
        self.call::<f32>(instance, func).await.to_bits()
    }

    async fn call_func_ret_f64(&mut self, instance: &str, func: &str) -> u64 {
        self.call::<f64>(instance, func).await.to_bits()
    }
}
