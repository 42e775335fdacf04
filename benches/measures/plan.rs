//! What it costs to judge the calls of a script before it runs:
//! `cargo bench --workspace --bench plan`.
//!
//! Each script is read, but not run. In the second of each pair, the server has a made-up name, so
//! that nothing is found, asked or judged: the difference is the cost.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{sync::Arc, time::Duration};

use belljar_gateway::{Gateway, Toolbox};
use belljar_model::{Limits, ServerSpec, Transport};
use belljar_sandbox::{Image, Sandbox, SandboxOptions};
use belljar_upstream::{BuiltIns, Options};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Builder;

const TYPICAL: &str = r#"
const { projects } = await demo.list_projects();
const lists = await Promise.all(projects.map(({ name }) => demo.list_issues({ project: name, state: "open" })));
return lists.flatMap(({ issues }) => issues).filter(({ labels }) => labels.includes("urgent")).map(({ title }) => title);
"#;

fn plan(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let gateway = runtime.block_on(async {
        let specs = vec![ServerSpec::new("demo", Transport::BuiltIn("demo".to_owned()))];
        let built_ins = BuiltIns::new().with("demo", belljar_demo::serve);
        let toolbox = Toolbox::new(specs, built_ins, Options::new("bench", "1"));
        let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap();
        Gateway::new(Arc::new(toolbox), Arc::new(sandbox), Limits::default())
    });
    let ten = r#"await demo.list_issues({ project: "atlas", state: "open" });"#.repeat(10);
    for (name, source, calls) in [("a typical script", TYPICAL, 2), ("ten calls with all of their arguments", &ten, 10)]
    {
        for (kind, source, calls) in
            [("judged", source.to_owned(), calls), ("read alone", format!("const demo = 0;{source}"), 0)]
        {
            criterion.bench_function(&format!("{name}: {kind}"), |bencher| {
                bencher.iter(|| {
                    let plan = runtime.block_on(gateway.plan(source.clone()));
                    assert!(plan.error.is_none() && plan.calls.len() == calls, "{plan:?}");
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50).measurement_time(Duration::from_secs(3));
    targets = plan
}
criterion_main!(benches);
