//! `belljar bench` measures on the user's machine, shows its measurements, and starts none of the
//! user's servers.

mod pixels;

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
};

use serde_json::{Value, json};

use self::pixels::{Scheme, marks, screenshot};
use crate::{
    cancellation::{ended, signal},
    command_line::keys,
    dead_children::child,
    support::{Answer, Terminal, repository},
};

/// The figures of one full measurement, and its page.
struct Measured {
    terminal: Terminal,
    report: Value,
    page: String,
}

/// A server whose list is known, and one that has never been asked.
fn measured() -> &'static Measured {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let terminal = Terminal::new();
        let kid = json!({ "command": child(), "args": ["many", "300"] });
        let known = terminal.file("known.json", json!({ "mcpServers": { "kid": kid } }).to_string());
        let listed = terminal.belljar(&["servers", "--config", known.to_str().unwrap()]);
        assert_eq!(listed.code, 0, "{listed:#?}");
        let new = json!({ "command": "sh", "args": ["-c", ": > started"] });
        let config = terminal.file("mcp.json", json!({ "mcpServers": { "kid": kid, "new": new } }).to_string());
        let arguments = ["bench", "--json", "--html", "bench.html", "--config", config.to_str().unwrap()];
        let answer = terminal.belljar(&arguments);
        assert_eq!(answer.code, 0, "{answer:#?}");
        let page = std::fs::read_to_string(terminal.folder.path().join("bench.html")).unwrap();
        Measured { report: answer.json(), page, terminal }
    })
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

/// Times in this unit: the number of rounds, none of which took zero, and the other figures in
/// order.
fn assert_times(times: &Value, unit: &str) {
    assert!(times["rounds"].as_u64().unwrap() > 0, "{times:#}");
    let [least, median, most] = ["min", "median", "p95"].map(|name| number(&times[format!("{name}_{unit}")]));
    assert!(0.0 < least && least <= median && median <= most, "{times:#}");
}

#[test]
fn every_figure_is_there_and_they_fit_each_other() {
    let report = &measured().report;
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
    assert_times(&report["cold_start"], "ms");
    assert_times(&report["warm_start"], "us");
    assert!(
        number(&report["warm_start"]["median_us"]) < 1e3 * number(&report["cold_start"]["median_ms"]),
        "a sandbox in a process that is up takes longer than a process: {report:#}"
    );
    assert_times(&report["sequential_call"], "us");
    assert_eq!(report["sequential_call"]["calls"], 1_000);

    let parallel = &report["parallel_calls"];
    assert_times(parallel, "ms");
    let (each, sum) = (number(&parallel["each_ms"]), number(&parallel["sum_ms"]));
    assert_eq!(sum, number(&parallel["calls"]) * each);
    assert!(each <= number(&parallel["min_ms"]) && number(&parallel["p95_ms"]) < sum, "{parallel:#}");

    let throughput = report["throughput"].as_array().unwrap();
    let cores = report["machine"]["cores"].as_u64().unwrap();
    let at_once: Vec<u64> = throughput.iter().map(|level| level["runs_at_once"].as_u64().unwrap()).collect();
    assert!(at_once.is_sorted() && at_once.first() == Some(&1) && at_once.last() == Some(&(2 * cores)), "{at_once:?}");
    for level in throughput {
        let computed = number(&level["runs"]) / number(&level["elapsed_ms"]) * 1e3;
        assert!((number(&level["runs_per_second"]) / computed - 1.0).abs() < 0.01 && computed > 0.0, "{level:#}");
    }

    let overhead = report["overhead"].as_array().unwrap();
    assert!(!overhead.is_empty());
    for script in overhead {
        assert!(number(&script["without_ms"]) > 0.0, "{script:#}");
        let ratio = number(&script["shipped_ratio"]);
        assert!((0.2..20.0).contains(&ratio), "{script:#}");
    }
    // On a slow machine there is no time for each of them alone, which is reported.
    for name in ["fuel", "epochs"] {
        let is_skipped = skipped(report).contains(&format!("the cost of {name} alone"));
        let ratios = overhead.iter().filter_map(|script| script[format!("{name}_ratio")].as_f64());
        assert_eq!(
            ratios.filter(|ratio| *ratio > 0.0).count(),
            if is_skipped { 0 } else { overhead.len() },
            "{report:#}"
        );
    }
}

/// The figures that a report says are missing.
fn skipped(report: &Value) -> Vec<String> {
    report["skipped"].as_array().unwrap().iter().map(|skipped| skipped["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_quick_run_has_the_same_fields_and_says_what_it_had_no_time_for() {
    let quick = Terminal::new().belljar(&["bench", "--quick", "--json"]);
    assert_eq!(quick.code, 0, "{quick:#?}");
    let quick = quick.json();
    assert_eq!(keys(&quick), keys(&measured().report));
    assert_eq!((&quick["overhead"], skipped(&quick)), (&json!([]), vec!["the cost of limits".to_owned()]));
    for (figure, unit) in
        [("cold_start", "ms"), ("warm_start", "us"), ("sequential_call", "us"), ("parallel_calls", "ms")]
    {
        assert_times(&quick[figure], unit);
        assert!(quick[figure]["rounds"].as_u64() < measured().report[figure]["rounds"].as_u64(), "{figure}");
    }
    // Without a configuration there are the demo's few tools, and nobody searches those.
    assert_eq!((&quick["search"]["origin"], &quick["search"]["tools"]), (&json!("built_in"), &json!(1_000)));
    assert_eq!((&quick["tokens"]["servers"][0]["server"], &quick["tokens"]["unlisted"]), (&json!("demo"), &json!([])));
}

#[test]
#[cfg(target_os = "linux")]
fn runs_that_wait_take_memory_each_and_a_thousand_more_than_a_hundred() {
    let waiting = measured().report["waiting_runs"].as_array().unwrap();
    assert_eq!(waiting.iter().map(|level| level["runs"].as_u64().unwrap()).collect::<Vec<_>>(), [100, 1_000]);
    let taken: Vec<f64> = waiting.iter().map(|level| number(&level["taken_bytes"])).collect();
    assert!(matches!(taken[..], [hundred, thousand] if 0.0 < hundred && hundred < thousand), "{waiting:#?}");
    for level in waiting {
        for (all, each) in [("taken_bytes", "bytes_per_run"), ("resident_bytes", "resident_bytes_per_run")] {
            let product = number(&level[each]) * number(&level["runs"]);
            assert!((product / number(&level[all]) - 1.0).abs() < 0.01, "{level:#}");
        }
        assert!(number(&level["bytes_per_run"]) <= number(&level["resident_bytes_per_run"]), "{level:#}");
    }
}

#[test]
fn search_and_tokens_are_of_the_users_own_lists_and_start_no_server() {
    let Measured { terminal, report, .. } = measured();
    assert!(!terminal.folder.path().join("started").exists(), "a server was started");
    let search = &report["search"];
    assert_eq!(
        (&search["origin"], &search["servers"], &search["tools"]),
        (&json!("configuration"), &json!(1), &json!(300))
    );
    assert_times(&search["index"], "ms");
    let queries = search["queries"].as_array().unwrap();
    assert_eq!(
        queries.iter().map(|query| query["kind"].as_str().unwrap()).collect::<Vec<_>>(),
        ["in words", "by its path", "all tools"]
    );
    queries.iter().for_each(|query| assert_times(query, "us"));

    let tokens = &report["tokens"];
    assert_eq!(tokens["unlisted"], json!(["new"]));
    assert_eq!((&tokens["servers"][0]["server"], &tokens["servers"][0]["tools"]), (&json!("kid"), &json!(300)));
    let of = |name: &str| tokens[name].as_i64().unwrap_or_else(|| panic!("{name} is no number: {tokens:#}"));
    assert_eq!(of("saved_tokens"), of("direct_tokens") - of("belljar_tokens"));
    assert!(
        of("belljar_tokens") > 0 && of("direct_tokens") > of("belljar_tokens") && of("look_up_tokens") > 0,
        "{tokens:#}"
    );
    let percent = 100.0 * number(&tokens["saved_tokens"]) / number(&tokens["direct_tokens"]);
    assert!((number(&tokens["saved_percent"]) - percent).abs() < 0.01, "{tokens:#}");
    // The command that makes a list known exists.
    let with: Vec<&str> = tokens["list_with"].as_str().unwrap().split(' ').skip(1).collect();
    let help = terminal.belljar(&[with.as_slice(), &["--help"]].concat());
    assert!(help.code == 0 && with[1] == "--config" && with[2].ends_with("mcp.json"), "{with:?} {help:#?}");
}

#[test]
fn every_field_is_in_the_document() {
    let document = std::fs::read_to_string(repository().join("docs/BENCH.md")).unwrap();
    let mut fields = Vec::new();
    fields_of(&measured().report, &mut fields);
    // The figures for which a slow machine has no time.
    fields.extend(["fuel_ratio", "epochs_ratio"].map(str::to_owned));
    for field in fields {
        let is_named = document.contains(&format!("`{field}`")) || document.contains(&format!(".{field}`"));
        assert!(is_named, "{field} is not in docs/BENCH.md");
    }
}

fn fields_of(value: &Value, fields: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            fields.extend(keys(value).into_iter().map(str::to_owned));
            object.values().for_each(|value| fields_of(value, fields));
        }
        Value::Array(values) => values.iter().for_each(|value| fields_of(value, fields)),
        _ => {}
    }
}

#[test]
fn the_table_names_each_measure_and_says_what_was_not_measured() {
    let terminal = Terminal::new();
    let answer = terminal.belljar(&["bench", "--quick"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    for says in [
        "MEASURE",
        "cold start of the process",
        "warm start: fresh sandbox, 1+1, drop",
        "a tool call, of 1,000 in sequence",
        "1,000 calls of 50 ms at once",
        "indexing 1,000 invented tools",
        "search, in words",
        "THROUGHPUT",
        "1 at once",
        "CONTEXT",
        "definitions of 7 tools",
        "belljar's definitions",
        "bytes of the JSON by 3.6",
        "not measured: the cost of limits: ",
        "to repeat it: belljar bench --quick",
    ] {
        assert!(answer.stdout.contains(says), "{says} is missing:\n{}", answer.stdout);
    }
    assert_eq!(answer.stdout.contains("1,000 runs that wait"), cfg!(target_os = "linux"), "{}", answer.stdout);
    assert!(!answer.stdout.contains('\u{1b}') && !answer.stderr.contains("measuring"), "{answer:#?}");
    let first = answer.stdout.lines().find(|line| line.starts_with("MEASURE")).unwrap();
    let last = answer.stdout.lines().find(|line| line.starts_with("search, all tools")).unwrap();
    assert_eq!(first.chars().count(), last.chars().count(), "columns do not end together:\n{}", answer.stdout);
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = &measured().page;
    for foreign in ["http:", "https:", "//", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe"] {
        assert!(!page.contains(foreign), "{foreign} is in the page");
    }
    assert!(page.contains("default-src 'none'") && page.contains("prefers-color-scheme: dark"));
    let (figures, tables) = (page.matches("<figure>").count(), page.matches("<table>").count());
    assert!(figures == tables && figures >= 8, "{figures} plots and {tables} tables");
    assert!(page.contains("belljar bench --config"), "the command is missing");
}

#[test]
fn the_pages_plots_have_their_bars_in_a_browser_by_day_and_by_night() {
    let Measured { page, report, .. } = measured();
    for scheme in [Scheme::Light, Scheme::Dark] {
        let shot = screenshot(page, scheme);
        let bars = marks(page, &shot, scheme).unwrap_or_else(|missing| panic!("{scheme:?}: {missing}"));
        // The drawing matches the measurement: lengths are proportional to the figures.
        let measured: Vec<f64> =
            report["throughput"].as_array().unwrap().iter().map(|level| number(&level["runs_per_second"])).collect();
        let drawn = &bars["Throughput"];
        assert_eq!(drawn.len(), measured.len(), "{scheme:?}: {drawn:?}");
        let (longest, most) = (drawn.iter().copied().fold(0.0, f64::max), measured.iter().copied().fold(0.0, f64::max));
        for (drawn, measured) in drawn.iter().zip(&measured) {
            assert!((drawn / longest - measured / most).abs() * longest < 4.0, "{scheme:?}: {drawn} of {longest}");
        }
        let without: String = page
            .split("<rect class=\"bar")
            .map(|part| part.split_once("</rect>").map_or(part, |(_, rest)| rest))
            .collect();
        assert!(!without.contains("class=\"bar"));
        let missing =
            marks(page, &screenshot(&without, scheme), scheme).expect_err("bars that are not there were seen");
        assert!(missing.contains("Cold start"), "{missing}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_told_of_before_anything_is_measured() {
    let terminal = Terminal::new();
    std::fs::create_dir(terminal.folder.path().join("folder")).unwrap();
    for path in ["missing/bench.html", "folder"] {
        let answer = terminal.belljar(&["-v", "bench", "--html", path]);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{answer:#?}");
        assert!(answer.stderr.contains(path) && !answer.stderr.contains("measuring"), "{answer:#?}");
    }
}

#[test]
fn an_interrupted_bench_ends_at_once_and_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    for (at, quick) in [("cold start", Some("--quick")), ("compiling an engine without limits", None)] {
        let terminal = Terminal::new();
        let mut command = terminal.command(&["-v", "bench", "--html", "bench.html"]);
        command.args(quick);
        command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut bench = command.spawn().unwrap();
        let mut told = BufReader::new(bench.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(told.any(|line| line.contains(&format!("measuring: {at}"))), "{at} is not measured");
        signal(&bench, "INT");
        let rest = std::thread::spawn(move || told.collect::<Vec<_>>());
        let answer: Answer = ended(bench);
        let rest = rest.join().unwrap();
        assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{answer:#?}");
        assert!(rest.iter().any(|line| line.contains("interrupted")), "{rest:?}");
        let left = |folder: &Path| {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| is_ours(path)).collect()
        };
        let (pages, folders): (Vec<PathBuf>, Vec<PathBuf>) = (left(terminal.folder.path()), left(temporary.path()));
        assert!(pages.is_empty() && folders.is_empty(), "{pages:?} {folders:?}");
    }
}

/// The files that a bench creates while it measures.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains("bench") || name.starts_with(".tmp")
}
