//! What is shown of the daemon's answers, and how keys change it.

use belljar_daemon::requests::Live;
use belljar_model::{RunId, display};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The state of the daemon at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Seen {
    pub(super) runs: Vec<Run>,
    /// The run whose calls were asked for.
    pub(super) open: Option<Run>,
    pub(super) children: Vec<Child>,
    pub(super) waiting: Option<u64>,
}

/// A run. Its texts are as received.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Run {
    pub(super) run: RunId,
    pub(super) origin: Option<String>,
    pub(super) principal: Option<String>,
    pub(super) client: Option<String>,
    pub(super) state: String,
    pub(super) error: Option<String>,
    pub(super) ms: Option<f64>,
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    #[serde(default)]
    pub(super) more_calls: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Call {
    pub(super) number: u64,
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) effect: Option<String>,
    pub(super) state: String,
    pub(super) begun_ms: f64,
    pub(super) ms: Option<f64>,
    pub(super) progress: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Child {
    pub(super) name: String,
    pub(super) state: String,
}

impl Seen {
    /// What an answer says.
    pub(super) fn of(live: &Live) -> Result<Self, String> {
        fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, String> {
            serde_json::from_str(value.get()).map_err(|error| format!("the daemon's answer is not understood: {error}"))
        }
        let open = live.run.as_deref().map(read).transpose()?;
        Ok(Self { runs: read(&live.runs)?, open, children: read(&live.children)?, waiting: live.waiting })
    }

    /// What is above the runs.
    pub(super) fn summary(&self) -> String {
        let count = |state: &str| self.runs.iter().filter(|run| run.state == state).count();
        let waiting = match self.waiting {
            Some(waiting) => format!("{waiting} wait for you"),
            None => "nobody is asked".to_owned(),
        };
        format!("{} running, {} queued, {waiting}", count("running"), count("queued"))
    }

    /// The children on one line.
    pub(super) fn servers(&self) -> String {
        let named = self.children.iter().map(|child| format!("{} {}", safe(&child.name), child.state));
        let named: Vec<String> = named.collect();
        if named.is_empty() { "no servers".to_owned() } else { named.join(" · ") }
    }

    /// All of it, for a reader without a terminal.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let runs = self.runs.iter().map(|run| run.cells().join("  "));
        [self.summary(), self.servers()].into_iter().chain(runs)
    }
}

impl Run {
    /// The run's name, state, duration and asker.
    pub(super) fn cells(&self) -> [String; 4] {
        let state = self.error.as_deref().unwrap_or(match self.state.as_str() {
            "ended" => "ok",
            state => state,
        });
        [self.run.to_string(), safe(state), self.ms.map(duration).unwrap_or_default(), self.asker()]
    }

    /// The principal, or else the origin, and then the name that the client gives itself.
    fn asker(&self) -> String {
        let known = self.principal.as_deref().or(self.origin.as_deref()).unwrap_or("unknown");
        let client = self.client.as_deref().map(|client| format!(" ({})", safe(client)));
        safe(known) + &client.unwrap_or_default()
    }
}

impl Call {
    /// The call's number, tool, state, beginning and duration, and what its server says.
    pub(super) fn cells(&self) -> [String; 6] {
        let tool = safe(&format!("{}.{}", self.server, self.tool));
        let state = match &self.effect {
            Some(effect) if self.state == "waiting" => format!("waiting: {effect}"),
            _ => self.state.clone(),
        };
        let progress = self.progress.as_deref().map(safe).unwrap_or_default();
        let took = self.ms.map(duration).unwrap_or_default();
        [self.number.to_string(), tool, safe(&state), duration(self.begun_ms), took, progress]
    }
}

/// A name, made safe for a terminal.
pub(super) fn safe(name: &str) -> String {
    /// More than the width of any column.
    const LONGEST: usize = 200;
    let end = name.char_indices().nth(LONGEST).map_or(name.len(), |(end, _)| end);
    display::line(name.get(..end).unwrap_or_default()).into_owned()
}

fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 10_000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.0} s", ms / 1e3),
    }
}

/// A key, by its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressed {
    Up(usize),
    Down(usize),
    Open,
    Back,
    End,
    /// Only redraws the screen.
    Other,
}

/// What is on the screen.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) seen: Seen,
    /// Why what is shown is out of date, if it is.
    pub(super) fault: Option<String>,
    /// The chosen run. It stays the same run when rows move.
    pub(super) chosen: Option<RunId>,
    /// The run whose calls are shown.
    pub(super) open: Option<RunId>,
    /// The first call that is shown.
    pub(super) first_call: usize,
}

impl Shown {
    /// Takes the daemon's next state.
    pub(super) fn take(&mut self, told: &Result<Seen, String>) {
        match told {
            Ok(seen) => (self.seen, self.fault) = (seen.clone(), None),
            Err(fault) => self.fault = Some(safe(fault)),
        }
    }

    /// The row of the chosen run; the first, if it has gone.
    pub(super) fn row(&self) -> Option<usize> {
        let row = self.chosen.and_then(|chosen| self.seen.runs.iter().position(|run| run.run == chosen));
        row.or((!self.seen.runs.is_empty()).then_some(0))
    }

    /// Takes a key, and returns the run whose calls are to be asked for.
    pub(super) fn press(&mut self, pressed: Pressed) -> Option<RunId> {
        let last = self.seen.runs.len().saturating_sub(1);
        match (pressed, self.open) {
            (Pressed::Up(by), None) => self.choose(self.row().unwrap_or(0).saturating_sub(by)),
            (Pressed::Down(by), None) => self.choose(self.row().unwrap_or(0).saturating_add(by).min(last)),
            (Pressed::Up(by), Some(_)) => self.first_call = self.first_call.saturating_sub(by),
            (Pressed::Down(by), Some(_)) => {
                let calls = self.seen.open.as_ref().map_or(0, |run| run.calls.len());
                self.first_call = self.first_call.saturating_add(by).min(calls.saturating_sub(1));
            }
            (Pressed::Open, None) => {
                self.open = self.row().and_then(|row| self.seen.runs.get(row)).map(|run| run.run);
                (self.first_call, self.seen.open) = (0, None);
            }
            (Pressed::Back, Some(open)) => (self.open, self.chosen) = (None, Some(open)),
            _ => {}
        }
        self.open
    }

    fn choose(&mut self, row: usize) {
        self.chosen = self.seen.runs.get(row).map(|run| run.run);
    }
}
