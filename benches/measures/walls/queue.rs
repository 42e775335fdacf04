//! What ten thousand runs that wait for a slot take.

use std::time::Instant;

use belljar_measures::{Gate, patient, process::resident_bytes, sandbox, start};
use belljar_model::ErrorKind;
use futures::future::join_all;
use tokio::runtime::Runtime;

use crate::{
    cores,
    table::{line, mebibytes},
};

const QUEUED: usize = 10_000;

pub(crate) fn measure(runtime: &Runtime) {
    println!("{QUEUED} runs that wait for a slot");
    let slots = cores();
    let sandbox = sandbox(u32::try_from(slots).unwrap(), u32::try_from(QUEUED).unwrap()).unwrap();
    let (limits, gate) = (patient(), Gate::default());
    runtime.block_on(async {
        let holding: Vec<_> = (0..slots).map(|_| start(&sandbox, "await box.wait({})", &limits, &gate)).collect();
        gate.arrived(slots).await;
        let before = resident_bytes().unwrap();
        let begun = Instant::now();
        let queued: Vec<_> = (0..QUEUED).map(|_| start(&sandbox, "1+1", &limits, &gate)).collect();
        // The first run beyond the queue is rejected at once; it is retried until the others have
        // taken all places.
        let refused = loop {
            let asked = Instant::now();
            let one = start(&sandbox, "1+1", &limits, &gate);
            tokio::task::yield_now().await;
            if one.is_finished() {
                let outcome = one.await.unwrap();
                assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Busy);
                break asked.elapsed();
            }
            one.abort();
        };
        line("time until all are in the queue", format!("{:.1} ms", begun.elapsed().as_secs_f64() * 1e3));
        let grown = resident_bytes().unwrap().saturating_sub(before);
        line("grown by", mebibytes(grown));
        line("  for each run", format!("{:.0} bytes", grown as f64 / QUEUED as f64));
        line("one more is told that belljar is busy after", format!("{:.2} ms", refused.as_secs_f64() * 1e3));
        let drained = Instant::now();
        gate.open();
        for outcome in join_all(holding.into_iter().chain(queued)).await {
            let outcome = outcome.unwrap();
            assert!(outcome.is_ok(), "{:?}", outcome.result);
        }
        let seconds = drained.elapsed().as_secs_f64();
        line("all have run after", format!("{seconds:.2} s"));
        line("  runs a second", format!("{:.0}", QUEUED as f64 / seconds));
    });
    println!();
}
