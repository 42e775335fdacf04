//! Ten thousand runs.

use std::time::{Duration, SystemTime};

use belljar_ledger::{Asker, Entry, Ledger as _, Options, RunEnd, RunStart, SqliteLedger};
use belljar_model::{ErrorKind, LedgerKeep, RunId, Usage};
use serde_json::json;

use super::{Browser, Owner};

const RUNS: u64 = 10_000;

/// Puts runs into the ledger of an owner.
async fn fill(owner: &Owner) {
    let folder = owner.terminal.folder.path().join(".local/state/belljar");
    let ledger = SqliteLedger::new(Some(&folder), Options { fsync: false, keep: LedgerKeep::default() });
    let began = SystemTime::now() - Duration::from_secs(RUNS);
    for number in 0..RUNS {
        let at = began + Duration::from_secs(number);
        let asker = Asker::new(None, Some("many"));
        let start = RunStart {
            run: RunId::from_bits(number + 1),
            at,
            origin: "run",
            asker,
            source_bytes: Some(3),
            source: None,
        };
        let end = RunEnd {
            start,
            took: Duration::from_millis(number % 97),
            error: (number % 10 == 0).then_some(ErrorKind::Exception),
            line: None,
            usage: Usage::default(),
            calls: Vec::new(),
            recording: None,
        };
        ledger.write(Entry::End(Box::new(end))).await.unwrap();
    }
    ledger.close().await;
}

#[test]
fn ten_thousand_runs_are_scrolled_with_a_bounded_document_and_few_requests() {
    let owner = Owner::new();
    tokio::runtime::Runtime::new().unwrap().block_on(fill(&owner));
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    browser.until("document.querySelectorAll('a.run').length >= 100");
    browser.value(
        "window.most = 0; window.asked = performance.getEntriesByType('resource').length; performance.setResourceTimingBufferSize(100000); \
         new MutationObserver(() => { window.most = Math.max(window.most, document.querySelectorAll('*').length); }).observe(document, { childList: true, subtree: true })",
    );
    // Each part is asked for when it comes near: to the very first run, and back.
    let last = RunId::from_bits(1).to_string();
    let down = format!(
        "new Promise((end) => {{ const step = () => {{ scrollTo(0, document.scrollingElement.scrollHeight); \
         if (document.querySelector('a.run[href=\"#/run/{last}\"]')) end(true); else setTimeout(step, 10); }}; step(); }})"
    );
    assert_eq!(browser.value(&down), true);
    let rows = browser.value("document.querySelectorAll('a.run').length").as_u64().unwrap();
    assert!(rows <= 600, "{rows} rows are in the document");
    let parts = browser.value("document.querySelectorAll('.parts > ul').length");
    assert_eq!(parts, RUNS / 100, "each run has its place");
    browser.value("scrollTo(0, 0)");
    browser.until("document.querySelectorAll('.parts > ul:first-child a.run').length === 100");
    let most = browser.value("window.most").as_u64().unwrap();
    assert!(most < 20_000, "the document had {most} elements");
    let asked = browser.value("performance.getEntriesByType('resource').length - window.asked").as_u64().unwrap();
    // Every part once, a few again, and what is looked at every few seconds.
    assert!(asked < 400, "{asked} requests");

    // A filter begins anew.
    browser.value("const failed = document.querySelector('[data-key=failed]'); failed.checked = true; failed.dispatchEvent(new Event('change'))");
    browser.until("document.querySelectorAll('.parts > ul').length <= 3 && document.querySelectorAll('a.run').length >= 100 && [...document.querySelectorAll('a.run')].every((row) => row.textContent.includes('failed'))");
    let told = owner.terminal.belljar(&["runs", "--failed", "--limit", "1", "--json"]).json();
    assert_eq!(browser.value("document.querySelector('a.run code').textContent"), told["runs"][0]["run"]);
    browser.value("location.hash = '#/cost'");
    browser.until("document.body.innerText.includes('Of the latest 10,000 runs')");
    assert_eq!(browser.barriers(), json!([]));
}
