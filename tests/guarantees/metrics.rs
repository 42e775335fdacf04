//! Metrics: a scrape reads what runs did, in a bounded number of series.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    net::TcpStream,
    sync::Arc,
};

use belljar_gateway::Watched;
use belljar_model::{RunStep, ToolPath};
use belljar_telemetry::{Gauges, Telemetry};
use serde_json::json;

use crate::{
    daemon::Shell,
    http::{Served, rest, token},
    stub_server::{Stub, gateway, text},
    support::Terminal,
};

/// A name with its labels.
type Series = (String, Vec<(String, String)>);

/// Each series with its value.
type Samples = BTreeMap<Series, f64>;

/// Reads a text as strictly as Prometheus' own format is specified: each metric has one HELP and
/// one TYPE before its samples, and all its samples together; a histogram's buckets grow up to
/// `+Inf`, which is its count; no series occurs twice.
pub(crate) fn parsed(text: &str) -> Samples {
    assert!(text.ends_with('\n'), "the last line has no end");
    let (mut samples, mut done) = (Samples::new(), BTreeSet::new());
    let mut current: Option<(String, String)> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').expect("a help text");
            assert!(is_name(name) && !words.is_empty(), "{line}");
            assert!(done.insert(name.to_owned()), "{name} comes twice");
            let kind = lines.next().and_then(|line| line.strip_prefix(&format!("# TYPE {name} "))).expect("a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
            current = Some((name.to_owned(), kind.to_owned()));
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let (name, labels) = series_of(series);
        let (metric, kind) = current.as_ref().expect("a metric before its samples");
        match kind.as_str() {
            "histogram" => {
                let part = name.strip_prefix(metric.as_str()).unwrap_or_else(|| panic!("{name} is in {metric}"));
                assert!(["_bucket", "_sum", "_count"].contains(&part), "{name}");
            }
            _ => assert_eq!(&name, metric),
        }
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(value >= 0.0, "{line}");
        assert!(samples.insert((name, labels), value).is_none(), "{line} comes twice");
    }
    check_histograms(&samples);
    samples
}

fn is_name(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_part)
}

fn series_of(series: &str) -> Series {
    let Some((name, rest)) = series.split_once('{') else {
        assert!(is_name(series), "{series}");
        return (series.to_owned(), Vec::new());
    };
    assert!(is_name(name), "{series}");
    let (mut labels, mut rest) = (Vec::new(), rest.strip_suffix('}').unwrap_or_else(|| panic!("{series}")));
    loop {
        let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("{series}"));
        assert!(is_name(label), "{series}");
        let (mut value, mut characters) = (String::new(), after.char_indices());
        let end = loop {
            match characters.next().unwrap_or_else(|| panic!("{series}")) {
                (at, '"') => break at,
                (_, '\\') => value.push(match characters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, character @ ('\\' | '"'))) => character,
                    other => panic!("{other:?} in {series}"),
                }),
                (_, character) => value.push(character),
            }
        };
        labels.push((label.to_owned(), value));
        match &after[end + 1..] {
            "" => return (name.to_owned(), labels),
            more => rest = more.strip_prefix(',').unwrap_or_else(|| panic!("{series}")),
        }
    }
}

fn check_histograms(samples: &Samples) {
    let mut buckets: BTreeMap<Series, Vec<(f64, f64)>> = BTreeMap::new();
    for ((name, labels), count) in samples {
        let Some(metric) = name.strip_suffix("_bucket") else { continue };
        let bound = labels.iter().find(|(label, _)| label == "le").expect("a bound").1.replace("+Inf", "inf");
        let others = labels.iter().filter(|(label, _)| label != "le").cloned().collect();
        buckets.entry((metric.to_owned(), others)).or_default().push((bound.parse().unwrap(), *count));
    }
    assert!(!buckets.is_empty());
    for ((metric, labels), mut counts) in buckets {
        counts.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(counts.is_sorted_by_key(|(_, count)| *count), "{metric} {counts:?}");
        assert_eq!(counts.len(), 15, "{metric}");
        let (last, all) = counts[14];
        assert!(last.is_infinite());
        assert_eq!(samples[&(format!("{metric}_count"), labels.clone())], all, "{metric}");
        assert!(samples.contains_key(&(format!("{metric}_sum"), labels)), "{metric}");
    }
}

/// The sum of the samples that have these labels among theirs.
pub(crate) fn sum(samples: &Samples, name: &str, labels: &[(&str, &str)]) -> f64 {
    let has =
        |of: &[(String, String)]| labels.iter().all(|(label, value)| of.iter().any(|(l, v)| l == label && v == value));
    samples.iter().filter(|((of, with), _)| of == name && has(with)).map(|(_, value)| value).sum()
}

pub(crate) fn get(served: &Served, token: &str) -> String {
    let mut stream = TcpStream::connect(served.address).unwrap();
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    rest(stream)
}

#[test]
fn a_scrape_counts_what_runs_did_and_takes_a_token_with_the_scope() {
    let terminal = Terminal::new();
    let scraper = token(&terminal, &["add", "prometheus", "--scope", "metrics"]);
    let served = Served::of(terminal, &[]);
    assert!(get(&served, &scraper).starts_with("HTTP/1.1 200"));
    assert!(get(&served, &served.token).starts_with("HTTP/1.1 403"), "its token has search and run");
    assert!(get(&served, "wrong").starts_with("HTTP/1.1 401"));

    for _ in 0..3 {
        served.value("await demo.list_issues({}); await demo.get_issue({ id: 3 }); return 1");
    }
    served.value("await demo.get_issue({ id: 12345 }).catch(() => 0)");
    served.value("throw new Error('on purpose')");
    // Counts lag some milliseconds behind.
    let (answer, samples) = loop {
        let answer = get(&served, &scraper);
        let samples = parsed(answer.split_once("\r\n\r\n").unwrap().1);
        if sum(&samples, "belljar_runs_total", &[]) == 5.0 {
            break (answer, samples);
        }
    };
    assert!(answer.to_lowercase().contains("content-type: text/plain; version=0.0.4"), "{answer}");
    let runs = |outcome| sum(&samples, "belljar_runs_total", &[("outcome", outcome), ("origin", "serve")]);
    assert_eq!((runs("ok"), runs("exception")), (4.0, 1.0), "{answer}");
    let calls = |tool, outcome| {
        sum(&samples, "belljar_calls_total", &[("server", "demo"), ("tool", tool), ("outcome", outcome)])
    };
    assert_eq!((calls("list_issues", "ok"), calls("get_issue", "ok"), calls("get_issue", "failed")), (3.0, 3.0, 1.0));
    assert_eq!(sum(&samples, "belljar_calls_total", &[("effect", "read_only"), ("verdict", "none")]), 7.0);
    assert_eq!(sum(&samples, "belljar_call_duration_seconds_count", &[("server", "demo")]), 7.0);
    assert_eq!(sum(&samples, "belljar_run_duration_seconds_count", &[]), 5.0);
    assert!(sum(&samples, "belljar_fuel_total", &[]) > 0.0);
    let taken = |name| (sum(&samples, name, &[("state", "taken")]), sum(&samples, name, &[("state", "free")]));
    assert!(taken("belljar_slots").0 == 0.0 && taken("belljar_slots").1 >= 1.0, "{answer}");
    assert!(taken("belljar_run_memory_bytes").0 == 0.0 && taken("belljar_run_memory_bytes").1 >= 1e6, "{answer}");
    assert!(sum(&samples, "process_resident_memory_bytes", &[]) > 1e6);
    // The issues were read by scripts, and the models got a number.
    let (answers, told) =
        (sum(&samples, "belljar_answer_bytes_total", &[]), sum(&samples, "belljar_told_bytes_total", &[]));
    let spared = sum(&samples, "belljar_tokens_spared_total", &[]);
    assert!(told < answers && spared >= (answers - told) / 4.0 - 1.0 && spared <= answers / 4.0, "{answer}");
    assert_eq!(sum(&samples, "belljar_children", &[("server", "demo"), ("state", "ready")]), 1.0, "{answer}");
    assert!(sum(&samples, "belljar_child_changes_total", &[("server", "demo"), ("state", "ready")]) >= 1.0);
    assert_eq!((sum(&samples, "belljar_runs_live", &[]), sum(&samples, "belljar_events_lost_total", &[])), (0.0, 0.0));
}

#[test]
fn a_daemon_prints_the_metrics_of_its_runs_and_none_is_started_to_be_asked() {
    let shell = Shell::new(&json!({ "demo": { "command": "node", "args": ["-e", "0"] } }));
    let answer = shell.belljar(&["daemon", "metrics"]);
    assert!(answer.code == 1 && answer.stdout.is_empty(), "{answer:?}");
    assert_eq!(shell.belljar(&["run", "--code", "1 + 1"]).code, 0);
    loop {
        let answer = shell.belljar(&["daemon", "metrics"]);
        let samples = parsed(&answer.stdout);
        if sum(&samples, "belljar_runs_total", &[("outcome", "ok"), ("origin", "run")]) == 1.0 {
            assert_eq!(sum(&samples, "belljar_approvals_waiting", &[]), 0.0);
            break;
        }
    }
    let text = shell.json(&["daemon", "metrics"])["text"].take();
    parsed(text.as_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_servers_thousands_of_tools_are_some_labels_and_end_no_line() {
    let name = |at: usize| format!("t{at}\"}} 1\nbelljar_runs_total 9 \u{202e}{}", "x".repeat(300));
    let tools: Vec<_> =
        (0..10_000).map(|at| json!({ "name": name(at), "inputSchema": { "type": "object" } })).collect();
    let gateway = gateway(&[("kid", Stub::new(json!(tools), |_, _| text("seen")))], Vec::new());
    let telemetry = Arc::new(Telemetry::default());
    let listening = tokio::spawn(telemetry.clone().listen(gateway.toolbox().events()));
    let script = "for (const name of Object.keys(kid).slice(0, 500)) await kid[name]({})".to_owned();
    let outcome = gateway.execute(script).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    let samples = loop {
        let samples = parsed(&telemetry.metrics(&Gauges::default()));
        if sum(&samples, "belljar_runs_total", &[]) == 1.0 {
            break samples;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(sum(&samples, "belljar_calls_total", &[]), 500.0);
    let tools: BTreeSet<_> =
        samples.keys().flat_map(|(_, labels)| labels).filter(|(label, _)| label == "tool").collect();
    assert_eq!(tools.len(), 101);
    assert_eq!(sum(&samples, "belljar_calls_total", &[("tool", "other")]), 400.0);
    assert!(
        tools.iter().all(|(_, tool)| !tool.contains(['\n', '\u{202e}']) && tool.chars().count() < 200),
        "{tools:?}"
    );
    listening.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_counts_too_slowly_loses_events_counts_them_and_knows_what_is_live() {
    let gateway = gateway(&[("kid", Stub::new(json!([]), |_, _| text("seen")))], Vec::new());
    let events = gateway.toolbox().events();
    let outcome = gateway.execute("for (let i = 0; i < 3000; i++) console.log(i)".to_owned()).await;
    assert!(outcome.result.is_ok() && gateway.toolbox().live_runs().is_empty());
    let telemetry = Arc::new(Telemetry::default());
    telemetry.watch_runs();
    let listening = tokio::spawn(telemetry.clone().listen(events));
    loop {
        let samples = parsed(&telemetry.metrics(&Gauges::default()));
        // The beginning of the run was lost, but not its end.
        if sum(&samples, "belljar_runs_total", &[("outcome", "ok"), ("origin", "unknown")]) == 1.0 {
            assert!(sum(&samples, "belljar_events_lost_total", &[]) >= 900.0);
            break;
        }
        tokio::task::yield_now().await;
    }
    let known = telemetry.runs();
    assert_eq!((known.len(), known[0].state, Some(known[0].run)), (1, "ended", outcome.run));
    listening.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_listens_hears_of_children_too_in_the_same_stream() {
    let look = json!([{ "name": "look", "inputSchema": { "type": "object" } }]);
    let gateway = gateway(&[("kid", Stub::new(look, |_, _| text("seen")))], Vec::new());
    let mut events = gateway.toolbox().events();
    gateway.execute("await kid.look({})".to_owned()).await;
    let (mut states, mut answered) = (Vec::new(), Vec::new());
    loop {
        match events.next().await.unwrap() {
            Watched::Child(status) => states.push((status.name, status.state.as_str())),
            Watched::Event(event) => match event.step {
                RunStep::Answered { tool, ok, .. } => answered.push((tool, ok)),
                RunStep::Ended { fuel, ms, .. } => {
                    assert!(fuel.is_some_and(|fuel| fuel > 0) && ms > 0.0);
                    break;
                }
                _ => {}
            },
            Watched::Lost(lost) => panic!("{lost} events are lost"),
        }
    }
    assert_eq!(answered, [(ToolPath::new("kid", "look"), true)]);
    // What the child did is reported when runs leave time for it.
    gateway.toolbox().shutdown().await;
    while !states.iter().any(|(name, state)| name == "kid" && *state == "cold") {
        match events.next().await {
            Some(Watched::Child(status)) => states.push((status.name, status.state.as_str())),
            other => panic!("{other:?}"),
        }
    }
    let mut states: Vec<_> = states.iter().map(|(_, state)| *state).collect();
    // Some states are reported again, with further details. A reported state is the one at that
    // moment: a server that is ready may already have the call for which it was started.
    states.dedup();
    assert!(matches!(states[..], ["starting", "ready" | "busy", ..]), "{states:?}");
}
