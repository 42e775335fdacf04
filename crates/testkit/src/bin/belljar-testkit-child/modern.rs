//! A healthy server of revision 2026-07-28, which has no handshake.

use std::io;

use serde_json::{Value, json};

use crate::protocol::{Message, Output, read_all};

const VERSION: &str = "2026-07-28";

/// Refuses `initialize`, and every request that does not name the revision. Its tool `change`
/// changes its tools, and notifies those who listen.
pub(crate) fn modern() -> io::Result<()> {
    let output = Output::default();
    let (mut listener, mut has_changed) = (None::<Value>, false);
    read_all(|message| answer(&output, &message, &mut listener, &mut has_changed))
}

fn answer(output: &Output, message: &Message, listener: &mut Option<Value>, has_changed: &mut bool) -> io::Result<()> {
    let id = message.id();
    if id.is_null() {
        return Ok(());
    }
    if message.parameter("/_meta/io.modelcontextprotocol~1protocolVersion") != VERSION {
        return output.error(id, -32_601, "there is no such method without a protocol version");
    }
    match message.method() {
        "server/discover" => output.result(
            id,
            json!({
                "resultType": "complete", "supportedVersions": [VERSION], "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "modern", "version": "0" }, "ttlMs": 0, "cacheScope": "public",
            }),
        ),
        "tools/list" => {
            let mut tools = vec![json!({ "name": "change", "inputSchema": { "type": "object" } })];
            if *has_changed {
                tools.push(json!({ "name": "fresh", "inputSchema": { "type": "object" } }));
            }
            output.result(id, json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "public" }))
        }
        "subscriptions/listen" => {
            let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
            *listener = Some(meta.clone());
            let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
            output.send(json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params }))
        }
        "tools/call" => {
            *has_changed = true;
            output.result(id, json!({ "resultType": "complete", "content": [{ "type": "text", "text": "changed" }] }))?;
            match listener {
                Some(meta) => output.send(
                    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": meta } }),
                ),
                None => Ok(()),
            }
        }
        _ => output.error(id, -32_601, "there is no such method"),
    }
}
