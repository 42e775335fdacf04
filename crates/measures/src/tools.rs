//! Tools without any effects.

use std::{sync::Arc, time::Duration};

use belljar_sandbox::{Effect, ToolSet, Tools};
use serde_json::{Value, json};

/// How long a call of `box.wait` takes.
pub const WAIT: Duration = Duration::from_millis(50);

/// One server with two tools: `box.echo` answers at once, `box.wait` after [`WAIT`].
pub fn two_tools() -> Arc<dyn Tools> {
    let tools = ToolSet::new()
        .with("box", "echo", Effect::ReadOnly, async |arguments| Ok(Value::Object(arguments)))
        .with("box", "wait", Effect::ReadOnly, async |_| {
            tokio::time::sleep(WAIT).await;
            Ok(json!(WAIT.as_millis()))
        });
    Arc::new(tools)
}

/// `count` tools on servers of a hundred; the first is `box0.tool0`.
pub fn many_tools(count: usize) -> Arc<dyn Tools> {
    let mut tools = ToolSet::new();
    for number in 0..count {
        let (server, tool) = (format!("box{}", number / 100), format!("tool{}", number % 100));
        tools = tools.with(&server, &tool, Effect::ReadOnly, async |arguments| Ok(Value::Object(arguments)));
    }
    Arc::new(tools)
}
