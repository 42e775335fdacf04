//! A program that others can script: scripts can list the stock of a small warehouse and reserve
//! items, through the two functions below, and can reach nothing else.
//!
//! ```sh
//! cargo run -- script.ts     # a script of yours
//! cargo run                  # the one below
//! ```

use std::{
    collections::BTreeMap,
    error::Error,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use belljar_sandbox::{Effect, Image, Limits, Map, Sandbox, SandboxOptions, Tool, ToolSet, Value, json};

const SCRIPT: &str = "
const low = (await warehouse.list({ below: 10 })).items;
for (const { item } of low) console.log('low:', item);
return await warehouse.reserve({ item: low[0].item, count: 2 });
";

/// What is in stock. The tools share it; scripts can reach it only through them.
type Stock = Arc<Mutex<BTreeMap<String, u64>>>;

fn list(stock: &Stock, arguments: &Map<String, Value>) -> Value {
    let below = arguments.get("below").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let stock = stock.lock().unwrap_or_else(PoisonError::into_inner);
    let items: Vec<_> = stock.iter().filter(|(_, count)| **count < below).collect();
    json!({ "items": items.iter().map(|(item, count)| json!({ "item": item, "count": count })).collect::<Vec<_>>() })
}

fn reserve(stock: &Stock, arguments: &Map<String, Value>) -> Result<Value, String> {
    // The arguments were checked against the schema: both are there, and have these types.
    let (item, count) =
        (arguments["item"].as_str().unwrap_or_default(), arguments["count"].as_u64().unwrap_or_default());
    let mut stock = stock.lock().unwrap_or_else(PoisonError::into_inner);
    match stock.get_mut(item) {
        Some(left) if *left >= count => {
            *left -= count;
            Ok(json!({ "item": item, "reserved": count, "left": *left }))
        }
        Some(left) => Err(format!("only {left} of {item} are left, and {count} were asked for")),
        None => Err(format!("there is no {item} in stock")),
    }
}

fn tools(stock: Stock) -> Result<ToolSet, Box<dyn Error>> {
    // Arguments are checked against a tool's schema before its closure sees them. The TypeScript
    // that `tools.describe` shows to a model is made from the schema.
    let list_tool = Tool::new("list", Effect::ReadOnly)
        .with_description("What is in stock, or what there is less than `below` of.")
        .with_input(json!({ "properties": { "below": { "type": "integer", "minimum": 0 } } }))?;
    let reserve_tool = Tool::new("reserve", Effect::Mutating)
        .with_description("Takes `count` of an item out of the stock.")
        .with_input(json!({
            "properties": {
                "item": { "type": "string" },
                "count": { "type": "integer", "minimum": 1 },
            },
            "required": ["item", "count"],
        }))?;
    let also = stock.clone();
    Ok(ToolSet::new()
        .with_tool("warehouse", list_tool, move |arguments| {
            let answer = list(&stock, &arguments);
            async { Ok(answer) }
        })
        .with_tool("warehouse", reserve_tool, move |arguments| {
            let answer = reserve(&also, &arguments);
            async { answer }
        }))
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let script = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => SCRIPT.to_owned(),
    };
    let stock = BTreeMap::from([("bolt".to_owned(), 120), ("nut".to_owned(), 4), ("washer".to_owned(), 9)]);
    let tools = tools(Arc::new(Mutex::new(stock)))?;

    // Done once per process. Each run then has an instance of its own.
    let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default())?;
    let limits = Limits { compute: Duration::from_secs(2), max_calls: 50, ..Limits::default() };
    let outcome = sandbox.run(script).limits(&limits).tools(Arc::new(tools)).await;

    for entry in &outcome.logs {
        eprintln!("{}", entry.text);
    }
    for call in &outcome.calls {
        eprintln!("called {}.{}: {}", call.server, call.tool, call.error.as_deref().unwrap_or("ok"));
    }
    Ok(match outcome.result {
        Ok(value) => {
            println!("{}", value.as_str());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            for more in [error.frame, error.hint].into_iter().flatten() {
                eprintln!("{more}");
            }
            ExitCode::FAILURE
        }
    })
}
