//! The sections of the report: each with a heading, a table, and the bars of a plot.

use belljar_measures::report::{
    Machine, Microseconds, Milliseconds, Origin, Overhead, Report, Search, Throughput, Tokens, WaitingRuns,
};

use super::figure::{bytes, count, microseconds, milliseconds, ratio, size, whole};
use crate::output::visible_line;

/// A measurement, or several that belong together.
pub(super) struct Section {
    pub(super) title: String,
    /// What was measured, in a sentence.
    pub(super) what: String,
    /// The heading of the rows, and then those of the columns.
    pub(super) headings: &'static [&'static str],
    /// A label and its cells.
    pub(super) rows: Vec<Vec<String>>,
    pub(super) plot: Plot,
    /// What a reader must know besides the figures.
    pub(super) remarks: Vec<String>,
}

/// Horizontal bars in groups, with an axis below them.
pub(super) struct Plot {
    /// The label of the axis.
    pub(super) unit: &'static str,
    /// The names of the series, if there are several.
    pub(super) series: Vec<&'static str>,
    pub(super) groups: Vec<Group>,
    /// A reference line, and its label.
    pub(super) line: Option<(f64, &'static str)>,
}

pub(super) struct Group {
    pub(super) label: String,
    pub(super) bars: Vec<Bar>,
}

pub(super) struct Bar {
    /// Its index in [`Plot::series`].
    pub(super) series: usize,
    pub(super) value: f64,
    pub(super) shown: String,
    /// Whether it was measured, or computed for comparison.
    pub(super) is_measured: bool,
}

const TIMES: &[&str] = &["measure", "fastest", "median", "95 %", "rounds"];

/// Everything, in the order in which it is shown.
pub(super) fn all(report: &Report) -> Vec<Section> {
    let sections = [
        Some(times(
            "Cold start",
            "A process from its start to its end: belljar run --code 1+1, its file already in the system's memory.",
            "cold start of the process",
            &report.cold_start,
        )),
        Some(fine_times(
            "Warm start",
            "In a process that is up: a fresh sandbox, 1+1 in it, and its end. No sandbox is used twice.",
            "warm start: fresh sandbox, 1+1, drop",
            &report.warm_start,
        )),
        Some(fine_times(
            "A tool call",
            "From the script to a tool that does nothing, and back, each call after the other.",
            &format!("a tool call, of {} in sequence", count(report.sequential_call.calls)),
            &report.sequential_call.each,
        )),
        Some(parallel(report)),
        Some(search(&report.search)),
        some(&report.throughput, throughput),
        some(&report.waiting_runs, waiting),
        some(&report.overhead, overhead),
        Some(tokens(&report.tokens)),
    ];
    sections.into_iter().flatten().collect()
}

/// The machine, with the most important facts first.
pub(super) fn machine(machine: &Machine) -> Vec<String> {
    let cores = if machine.cores == 1 { "1 core".to_owned() } else { format!("{} cores", machine.cores) };
    #[expect(clippy::cast_precision_loss, reason = "no machine has 2^53 bytes")]
    let memory = machine.memory_bytes.map(|memory| format!("{} of memory", bytes(memory as f64)));
    let system = machine.kernel.clone().unwrap_or_else(|| machine.system.to_owned());
    let cpu = machine.cpu_model.as_deref().map(|model| visible_line(model).into_owned());
    let parts = [cpu, Some(cores), memory, Some(format!("{}, {}", visible_line(&system), machine.architecture))];
    parts.into_iter().flatten().collect()
}

fn some<T>(figures: &[T], section: impl FnOnce(&[T]) -> Section) -> Option<Section> {
    (!figures.is_empty()).then(|| section(figures))
}

fn times(title: &str, what: &str, label: &str, times: &Milliseconds) -> Section {
    let bars = [("fastest", times.min_ms), ("median", times.median_ms), ("95 %", times.p95_ms)];
    Section {
        title: title.to_owned(),
        what: what.to_owned(),
        headings: TIMES,
        rows: vec![row(label, times)],
        plot: Plot::simple("milliseconds", bars.map(|(label, time)| (label.to_owned(), time, milliseconds(time)))),
        remarks: Vec::new(),
    }
}

fn fine_times(title: &str, what: &str, label: &str, times: &Microseconds) -> Section {
    let bars = [("fastest", times.min_us), ("median", times.median_us), ("95 %", times.p95_us)];
    Section {
        title: title.to_owned(),
        what: what.to_owned(),
        headings: TIMES,
        rows: vec![fine_row(label, times)],
        plot: Plot::simple("microseconds", bars.map(|(label, time)| (label.to_owned(), time, microseconds(time)))),
        remarks: Vec::new(),
    }
}

fn row(label: &str, times: &Milliseconds) -> Vec<String> {
    let [fastest, median, most] = [times.min_ms, times.median_ms, times.p95_ms].map(milliseconds);
    vec![label.to_owned(), fastest, median, most, size(times.rounds)]
}

fn fine_row(label: &str, times: &Microseconds) -> Vec<String> {
    let [fastest, median, most] = [times.min_us, times.median_us, times.p95_us].map(microseconds);
    vec![label.to_owned(), fastest, median, most, size(times.rounds)]
}

fn parallel(report: &Report) -> Section {
    let calls = &report.parallel_calls;
    let label = format!("{} calls of {} at once", count(calls.calls), format_args!("{} ms", calls.each_ms));
    let computed = Bar { is_measured: false, ..Bar::new(0, calls.sum_ms, milliseconds(calls.sum_ms)) };
    let measured = Bar::new(0, calls.whole.median_ms, milliseconds(calls.whole.median_ms));
    let groups = [("one by one, computed", computed), ("at once, measured", measured)];
    Section {
        title: "Calls at once".to_owned(),
        what: format!(
            "Promise.all over {} calls, each of which waits {}.",
            count(calls.calls),
            format_args!("{} ms", calls.each_ms)
        ),
        headings: TIMES,
        rows: vec![row(&label, &calls.whole)],
        plot: Plot {
            unit: "milliseconds",
            series: vec!["time"],
            groups: groups.map(|(label, bar)| Group { label: label.to_owned(), bars: vec![bar] }).into(),
            line: None,
        },
        remarks: Vec::new(),
    }
}

fn search(search: &Search) -> Section {
    let of = match search.origin {
        Origin::Configuration => format!("{} tools of {} servers", size(search.tools), size(search.servers)),
        Origin::BuiltIn => format!("{} invented tools", size(search.tools)),
    };
    let mut rows = vec![row(&format!("indexing {of}"), &search.index)];
    rows.extend(search.queries.iter().map(|query| fine_row(&format!("search, {}", query.kind), &query.times)));
    let bars = search
        .queries
        .iter()
        .map(|query| (query.kind.to_owned(), query.times.median_us, microseconds(query.times.median_us)));
    let invented = "no list of tools of your own is known: these are invented ones".to_owned();
    Section {
        title: "Search".to_owned(),
        what: format!(
            "Finding a tool among {of}: the median. All of them are indexed once, when their servers are known."
        ),
        headings: TIMES,
        rows,
        plot: Plot::simple("microseconds", bars),
        remarks: if search.origin == Origin::BuiltIn { vec![invented] } else { Vec::new() },
    }
}

fn throughput(levels: &[Throughput]) -> Section {
    let at_once = |level: &Throughput| format!("{} at once", size(level.runs_at_once));
    let row = |level: &Throughput| {
        vec![at_once(level), whole(level.runs_per_second), count(level.runs), milliseconds(level.elapsed_ms)]
    };
    let bars = levels.iter().map(|level| (at_once(level), level.runs_per_second, whole(level.runs_per_second)));
    Section {
        title: "Throughput".to_owned(),
        what: "Runs of 1+1 that end in a second, each in a fresh sandbox, from one at once to twice as many as there are cores."
            .to_owned(),
        headings: &["throughput", "runs a second", "runs", "time"],
        rows: levels.iter().map(row).collect(),
        plot: Plot::simple("runs a second", bars),
        remarks: Vec::new(),
    }
}

fn waiting(levels: &[WaitingRuns]) -> Section {
    let label = |level: &WaitingRuns| format!("{} runs that wait", count(level.runs));
    let kibibytes = |bytes: f64| format!("{} KiB", whole(bytes / 1024.0));
    #[expect(clippy::cast_precision_loss, reason = "no process has 2^53 bytes")]
    let row = |level: &WaitingRuns| {
        let each = [level.bytes_per_run, level.resident_bytes_per_run].map(kibibytes);
        [vec![label(level), bytes(level.taken_bytes as f64)], each.into()].concat()
    };
    let bars = levels.iter().map(|level| (label(level), level.bytes_per_run / 1024.0, kibibytes(level.bytes_per_run)));
    Section {
        title: "Memory".to_owned(),
        what: "What each live run that waits for a tool takes of the memory. Pages that all runs share count once (Pss); as resident \
               (RSS) they count at each."
            .to_owned(),
        headings: &["memory", "all together", "each", "resident"],
        rows: levels.iter().map(row).collect(),
        plot: Plot::simple("KiB for each", bars),
        remarks: Vec::new(),
    }
}

fn overhead(scripts: &[Overhead]) -> Section {
    let or_dash = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), ratio);
    let row = |script: &Overhead| {
        let ratios = [Some(script.shipped_ratio), script.fuel_ratio, script.epochs_ratio].map(or_dash);
        [vec![script.script.to_owned(), milliseconds(script.without_ms)], ratios.into()].concat()
    };
    let group = |script: &Overhead| {
        let ratios = [Some(script.shipped_ratio), script.fuel_ratio, script.epochs_ratio];
        let bars = ratios.into_iter().enumerate().filter_map(|(series, value)| Some((series, value?)));
        let bars = bars.map(|(series, value)| Bar::new(series, value, ratio(value))).collect();
        Group { label: script.script.to_owned(), bars }
    };
    let groups: Vec<Group> = scripts.iter().map(group).collect();
    let most = groups.iter().map(|group| group.bars.len()).max().unwrap_or(0);
    Section {
        title: "The cost of limits".to_owned(),
        what: "A script's time as shipped, with fuel alone and with epochs alone, by its time in an engine that has no limits at all.".to_owned(),
        headings: &["cost of limits", "without", "as shipped", "fuel", "epochs"],
        rows: scripts.iter().map(row).collect(),
        plot: Plot {
            unit: "times as long",
            series: ["as shipped", "fuel alone", "epochs alone"].into_iter().take(most).collect(),
            groups,
            line: Some((1.0, "without limits")),
        },
        remarks: Vec::new(),
    }
}

fn tokens(tokens: &Tokens) -> Section {
    let tools: usize = tokens.servers.iter().map(|server| server.tools).sum();
    let direct = format!("definitions of {} tools", size(tools));
    let mut rows: Vec<Vec<String>> = (tokens.servers.iter())
        .map(|server| vec![format!("  {}", visible_line(&server.server)), size(server.tools), size(server.tokens)])
        .collect();
    rows.insert(0, vec![direct.clone(), size(tools), size(tokens.direct_tokens)]);
    rows.push(vec!["belljar's definitions".to_owned(), "2".to_owned(), size(tokens.belljar_tokens)]);
    let look_up = tokens.look_up_tokens;
    rows.extend(look_up.map(|look_up| vec!["finding a tool, each time".to_owned(), String::new(), size(look_up)]));
    let saved = tokens.saved_percent.map(|percent| {
        let saved = count(tokens.saved_tokens);
        vec![format!("saved before the first search, {percent:.1} %"), String::new(), saved]
    });
    rows.extend(saved);
    let mut bars = vec![(direct, tokens.direct_tokens), ("belljar's two".to_owned(), tokens.belljar_tokens)];
    bars.extend(look_up.map(|look_up| ("and one tool found".to_owned(), tokens.belljar_tokens + look_up)));
    #[expect(clippy::cast_precision_loss, reason = "a context is below 2^53 tokens")]
    let bars = bars.into_iter().map(|(label, tokens)| (label, tokens as f64, size(tokens)));
    let mut remarks = vec![format!("tokens are estimated: {}", tokens.estimate)];
    if tokens.servers.iter().all(|server| server.is_built_in) && tokens.unlisted.is_empty() {
        remarks.push("no server of your own is configured: this is the demo, which has few tools".to_owned());
    }
    if !tokens.unlisted.is_empty() {
        let names: Vec<_> = tokens.unlisted.iter().map(|name| visible_line(name)).collect();
        remarks.push(format!(
            "no list of tools is known yet of {}: {} starts each server and keeps its list",
            names.join(", "),
            tokens.list_with
        ));
    }
    Section {
        title: "Tokens".to_owned(),
        what: "What tool definitions take of a model's context before it has done anything: those of your servers, or belljar's two."
            .to_owned(),
        headings: &["context", "tools", "tokens"],
        rows,
        plot: Plot::simple("tokens", bars),
        remarks,
    }
}

impl Plot {
    /// One series, a bar for each label.
    fn simple(unit: &'static str, bars: impl IntoIterator<Item = (String, f64, String)>) -> Self {
        let group = |(label, value, shown)| Group { label, bars: vec![Bar::new(0, value, shown)] };
        Self { unit, series: vec![unit], groups: bars.into_iter().map(group).collect(), line: None }
    }
}

impl Bar {
    fn new(series: usize, value: f64, shown: String) -> Self {
        Self { series, value, shown, is_measured: true }
    }
}
