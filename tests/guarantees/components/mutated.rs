//! Components and recordings in which something was changed at random: each of them is refused, or
//! runs to an outcome that is repeated exactly. The numbers are the same in each run of the test.

use std::{sync::Arc, time::Duration};

use belljar_foreign::Server;
use belljar_model::{ByteSize, Limits, Recorded};
use belljar_recording::digest;
use belljar_sandbox::Recording;
use serde_json::json;

use super::{
    any_tool::{ANY, chooser},
    recordings::{MAX, recorded_with, recording},
    repeats::various,
    support::{compiled, components, tools, typed},
};

/// Changed components, and changed recordings, of each kind.
const CHANGED: usize = 250;
/// Bytes of the digest at the end of a recording.
const DIGEST: usize = 32;
/// Bytes that matter more often than others do.
const ODD: [u8; 8] = [0, 1, 0x0b, 0x10, 0x40, 0x7f, 0x80, 0xff];

fn limits() -> Limits {
    Limits {
        fuel: 1_000_000,
        timeout: Duration::from_secs(2),
        memory: ByteSize::mib(8),
        max_calls: 20,
        ..Limits::default()
    }
}

/// Random numbers from xorshift.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        match self.below(3) {
            0 => ODD[self.below(ODD.len())],
            _ => u8::try_from(self.below(256)).unwrap(),
        }
    }

    /// The same bytes with one to three changes, most of them small.
    fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(changed.len());
            match self.below(12) {
                0 => changed.truncate(at + 1),
                1 => drop(changed.drain(at..(at + 4).min(changed.len() - 1)).collect::<Vec<u8>>()),
                2 => changed.insert(at, self.byte()),
                3 => {
                    let from = self.below(changed.len());
                    let copied = changed[from..(from + 8).min(changed.len())].to_vec();
                    changed.splice(at..at, copied);
                }
                4 => changed[at] ^= 1 << self.below(8),
                _ => changed[at] = self.byte(),
            }
        }
        changed
    }
}

/// Two components: one with typed functions, timers and calls at once, and one that finds a tool.
fn originals() -> [Vec<u8>; 2] {
    [various(), typed(ANY, &chooser("kit.note", r#"{"text":"hi","count":3}"#))]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_component_is_refused_or_runs_and_is_repeated() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut failed, mut ended) = (0, 0, 0);
    for original in originals() {
        for _ in 0..CHANGED {
            let file = numbers.changed(&original);
            let servers = Server::all(tools().catalog());
            let ready = compiled(&file).and_then(|component| Ok((components().link(&component, &servers)?, component)));
            let (linked, component) = match ready {
                Ok(ready) => ready,
                Err(refusal) => {
                    assert!(!refusal.error().message.is_empty());
                    refused += 1;
                    continue;
                }
            };
            let limits = limits();
            let run = components().run(&linked).limits(&limits).tools(Arc::new(tools())).recording(MAX);
            let outcome = run.await;
            match &outcome.result {
                Ok(_) => ended += 1,
                Err(_) => failed += 1,
            }
            let Some(Recorded::Whole(bytes)) = &outcome.recording else { continue };
            let recording = Recording::read(bytes.clone()).unwrap();
            // The first run may have been stopped by its time alone: its replay has more.
            let ample = Limits { timeout: Duration::from_secs(60), ..limits };
            let again = components().replay(&component, &recording, &ample).await;
            let again = again.unwrap_or_else(|error| panic!("{error}\n{outcome:#?}\n{file:?}"));
            assert_eq!(again.usage.fuel, outcome.usage.fuel, "{file:?}");
            assert_eq!(json!(again.calls), json!(outcome.calls), "{file:?}");
        }
    }
    // This shows that each path was taken.
    assert!(refused > 50 && failed > 0 && ended > 20, "{refused} refused, {failed} failed, {ended} ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_recording_is_refused_or_its_replay_ends() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let (mut unreadable, mut different, mut equal) = (0, 0, 0);
    for file in originals() {
        let whole = recording(&recorded_with(&file, &limits()).await);
        let component = compiled(&file).unwrap();
        let body = &whole.bytes()[..whole.bytes().len() - DIGEST];
        for _ in 0..CHANGED {
            let mut bytes = numbers.changed(body);
            bytes.extend(digest(&bytes));
            let Ok(changed) = Recording::read(bytes) else {
                unreadable += 1;
                continue;
            };
            match components().replay(&component, &changed, &limits()).await {
                Ok(_) => equal += 1,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    different += 1;
                }
            }
        }
    }
    // What nothing depends on, such as when it began, may differ.
    assert!(
        unreadable > 20 && different > 50 && equal > 0,
        "{unreadable} unreadable, {different} different, {equal} equal"
    );
}
