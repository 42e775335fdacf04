//! The contract between host and guest, as generated from `wit/sandbox.wit`.
#![allow(missing_docs, unreachable_pub, reason = "generated code")]

wasmtime::component::bindgen!({
    path: "wit",
    world: "interpreter",
    imports: {
        "belljar:sandbox/completions.next": async | trappable,
        "belljar:sandbox/catalog.list": async | trappable,
        "belljar:sandbox/catalog.search": async | trappable,
        "belljar:sandbox/catalog.describe": async | trappable,
        "belljar:sandbox/catalog.route": async | trappable,
        "belljar:sandbox/catalog.plan": async | trappable,
        "belljar:sandbox/workspace.artifacts": async | trappable,
        "belljar:sandbox/workspace.keep": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: { "belljar:sandbox/tools.tool": crate::handle::Handle },
    require_store_data_send: true,
});
