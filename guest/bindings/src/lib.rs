//! The contract with the host, as generated from `wit/sandbox.wit`: what the guest asks of it, and
//! the world that the component exports.

#[allow(missing_docs, unreachable_pub, clippy::too_many_arguments, reason = "generated code")]
mod world {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "interpreter",
        pub_export_macro: true,
        default_bindings_module: "belljar_guest_bindings",
    });
}

pub use world::*;
