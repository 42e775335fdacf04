//! How endless scripts delay the answer of an innocent one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_measures::{Times, endless, patient, sandbox, two_tools};
use belljar_sandbox::{Program, Sandbox};
use tokio::runtime::Runtime;

use crate::table::{head, row};

const ROUNDS: usize = 300;
const ENDLESS: usize = 4;

pub(crate) fn measure(runtime: &Runtime) {
    head("From the question to the answer of an innocent script");
    let sandbox = sandbox(16, 16).unwrap();
    let scripts = [("1+1", "1+1"), ("a call", "await box.echo({ a: 1 })")];
    for (name, source) in scripts {
        row(&format!("{name}, alone"), &times(runtime, &sandbox, source));
    }
    let beside = runtime.block_on(async { endless(&sandbox, ENDLESS) });
    for (name, source) in scripts {
        row(&format!("{name}, beside {ENDLESS} endless scripts"), &times(runtime, &sandbox, source));
    }
    drop(beside);
    println!();
}

fn times(runtime: &Runtime, sandbox: &Arc<Sandbox>, source: &'static str) -> Times {
    let tools = two_tools();
    let one = || {
        let (sandbox, tools) = (sandbox.clone(), tools.clone());
        let run = async move {
            let begun = Instant::now();
            let outcome = sandbox.run(Program::new(source)).limits(&patient()).tools(tools).await;
            assert!(outcome.is_ok(), "{:?}", outcome.result);
            begun.elapsed()
        };
        runtime.block_on(async { tokio::spawn(run).await.unwrap() })
    };
    let times: Vec<Duration> = (0..ROUNDS).map(|_| one()).collect();
    Times::new(times)
}
