//! What tools have answered last, for the hints of a script that fails on it.
//!
//! Kept as the texts that came, which are small, need no collector, and are what the tool gave
//! whatever a script has done since.

use std::{cell::RefCell, collections::VecDeque};

use boa_engine::{Context, JsValue};

use belljar_guest_engine::call_site::CallSite;

use super::{
    answers::value_in,
    servers::{self, ToolRef},
};

/// Bytes of all texts that are kept; a longer one is not.
const MAX_BYTES: usize = 256 * 1024;
/// Tools whose answers are kept.
const MAX_TOOLS: usize = 16;

struct Kept {
    tool: ToolRef,
    raw: bool,
    text: String,
}

thread_local! {
    static KEPT: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
}

/// Keeps an answer in the place of the tool's last one.
pub(super) fn keep(tool: ToolRef, raw: bool, text: String) {
    KEPT.with_borrow_mut(|kept| {
        match kept.iter_mut().find(|kept| kept.raw == raw && kept.tool.is(&tool)) {
            Some(kept) => kept.text = text,
            None => kept.push_back(Kept { tool, raw, text }),
        }
        while kept.len() > MAX_TOOLS || kept.iter().map(|kept| kept.text.len()).sum::<usize>() > MAX_BYTES {
            kept.pop_front();
        }
    });
}

/// What a script got of the last answer of a tool, which it called by these names.
pub(super) fn last(server: &str, tool: &str, raw: bool, context: &mut Context) -> Option<JsValue> {
    let server = servers::server_of(server)?;
    let (tool, text) = KEPT.with_borrow(|kept| {
        let found = kept.iter().find(|kept| kept.raw == raw && kept.tool.server == server && kept.tool.name == tool)?;
        Some((found.tool.clone(), found.text.clone()))
    })?;
    let site = CallSite::here(context).ok()?;
    value_in(&tool, raw, site, &text, context).ok()
}
