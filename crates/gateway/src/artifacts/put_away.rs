//! Stores what is too large to show in an answer to a model. The answer gets a preview and the id
//! of an artifact.

use belljar_ledger::{ArtifactError, Content, Holder, NewArtifact};
use belljar_model::{
    ArtifactSettings, ByteSize, JsonText, KeptOf, KeptPart, Limits, LimitsPatch, LogEntry, LogLevel, Outcome, RunId,
    preview,
};
use belljar_sandbox::MAX_ARTIFACT_BYTES;
use tokio::task::spawn_blocking;

use super::{
    ArtifactStore,
    answers::removed,
    files::{KnownFiles, digest},
};

/// Up to this many bytes and lines, logs are kept whole. The rest is cut, as it is from shown logs.
const KEPT_LOGS: (ByteSize, u64) = (ByteSize::mib(1), 100_000);

/// How much of a run's logs an answer shows: the limits that apply without artifacts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    logs: ByteSize,
    lines: u64,
}

impl Shown {
    /// What is shown of a run with these limits.
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { logs: limits.max_logs, lines: limits.max_log_lines }
    }
}

/// The limits of a run whose value and logs may become artifacts: what leaves the jar may be larger
/// than what is shown. A limit that the caller asked for stays.
pub(crate) fn roomier(limits: Limits, asked: &LimitsPatch, settings: &ArtifactSettings) -> Limits {
    Limits {
        max_output: match asked.max_output {
            Some(_) => limits.max_output,
            // A value that is too large for a script to read back would be of little use.
            None => limits.max_output.max(settings.max_artifact.min(ByteSize::b(MAX_ARTIFACT_BYTES as u64))),
        },
        max_logs: match asked.max_logs {
            Some(_) => limits.max_logs,
            None => limits.max_logs.max(KEPT_LOGS.0),
        },
        max_log_lines: match asked.max_log_lines {
            Some(_) => limits.max_log_lines,
            None => limits.max_log_lines.max(KEPT_LOGS.1),
        },
        ..limits
    }
}

/// Keeps the large parts of an outcome.
pub(crate) struct PutAway<'a> {
    pub(crate) artifacts: &'a ArtifactStore,
    pub(crate) holder: &'a Holder,
    pub(crate) run: RunId,
    /// The labels that the run carries at its end.
    pub(crate) labels: Vec<String>,
    /// Files in the value that are already kept.
    pub(crate) known: KnownFiles,
}

impl PutAway<'_> {
    /// Stores what an answer does not show, and `logs` if they were cut.
    pub(crate) async fn from(&self, outcome: &mut Outcome, logs: Option<String>) {
        if let Ok(value) = &outcome.result
            && value.as_str().len() as u64 > self.artifacts.settings.inline.as_u64()
        {
            let value = value.clone();
            let read = spawn_blocking(move || (preview(&value), content(value))).await;
            // Neither panics. Without them the value would stay as it is.
            if let Ok((preview, content)) = read {
                let part = self.kept(outcome, KeptOf::Value, content, None).await;
                outcome.result = Ok(preview);
                outcome.kept.push(part);
            }
        }
        let media = std::mem::take(&mut outcome.media);
        for (number, media) in (1..).zip(&media) {
            let Some((mime, bytes)) = media.file() else { continue };
            let known = if self.known.is_empty() { None } else { self.known.get(&digest(&bytes)) };
            if let Some(id) = known {
                let of = KeptOf::Media(number);
                outcome.kept.push(KeptPart { of, id: Some(*id), bytes: bytes.len() as u64, not_kept: None });
                continue;
            }
            let mime = mime.map(str::to_owned);
            let part = self.kept(outcome, KeptOf::Media(number), Content::Blob(bytes.into()), mime).await;
            outcome.kept.push(part);
        }
        outcome.media = media;
        if let Some(logs) = logs {
            let part =
                self.kept(outcome, KeptOf::Logs, Content::Text(logs.into()), Some("text/plain".to_owned())).await;
            outcome.kept.push(part);
        }
    }

    /// Stores one part, or reports why it is not kept.
    async fn kept(&self, outcome: &mut Outcome, of: KeptOf, content: Content, mime: Option<String>) -> KeptPart {
        let bytes = content.bytes().len() as u64;
        let artifact = NewArtifact { content, name: None, mime, run: Some(self.run), labels: self.labels.clone() };
        match self.artifacts.store.store(self.holder.clone(), artifact).await {
            Ok(stored) => {
                let told = removed(&stored).map(|text| LogEntry { level: LogLevel::Info, text });
                outcome.logs.extend(told);
                KeptPart { of, id: Some(stored.id), bytes, not_kept: None }
            }
            Err(error) => {
                tracing::warn!(run = %self.run, "the {of} of a run was not kept: {error}");
                KeptPart { of, id: None, bytes, not_kept: Some(said(&error)) }
            }
        }
    }
}

fn said(error: &ArtifactError) -> String {
    format!("{error} ({})", error.hint())
}

/// The content as which a value is kept. A string is kept as text, so that a search finds its
/// lines.
fn content(value: JsonText) -> Content {
    let is_text = value.as_str().trim_start().starts_with('"');
    match serde_json::from_str::<String>(value.as_str()) {
        Ok(text) if is_text => Content::Text(text.into()),
        _ => Content::Value(value),
    }
}

/// Cuts the logs to what is shown, and returns the whole logs as a text if anything was cut.
pub(crate) fn cut_logs(logs: &mut Vec<LogEntry>, shown: Shown) -> Option<String> {
    let (mut bytes, mut lines) = (shown.logs.as_u64(), shown.lines);
    let fits = |entry: &LogEntry| {
        let (length, count) = (entry.text.len() as u64, lines_of(&entry.text));
        let left = bytes.checked_sub(length).zip(lines.checked_sub(count));
        if let Some(left) = left {
            (bytes, lines) = left;
        }
        left.is_some()
    };
    let end = logs.iter().map(fits).take_while(|fits| *fits).count();
    if end == logs.len() {
        return None;
    }
    let mut whole = String::new();
    for LogEntry { level, text } in &*logs {
        if *level != LogLevel::Log {
            whole.push('[');
            whole.push_str(level.as_str());
            whole.push_str("] ");
        }
        whole.push_str(text);
        whole.push('\n');
    }
    let rest = logs.split_off(end);
    let text = format!(
        "[the logs are longer than {} bytes or {} lines, and {} of {} entries are left out here]",
        shown.logs.as_u64(),
        shown.lines,
        rest.len(),
        rest.len() + end
    );
    logs.push(LogEntry { level: LogLevel::Warn, text });
    Some(whole)
}

fn lines_of(text: &str) -> u64 {
    text.split('\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(texts: &[&str]) -> Vec<LogEntry> {
        texts.iter().map(|text| LogEntry { level: LogLevel::Log, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn logs_are_shown_to_their_limit_and_all_of_them_are_kept_then() {
        let shown = Shown { logs: ByteSize::b(6), lines: 3 };
        let mut short = logs(&["abc", "def"]);
        assert_eq!(cut_logs(&mut short, shown), None);
        assert_eq!(short.len(), 2);
        let mut long = logs(&["abc", "defg", "h"]);
        assert_eq!(cut_logs(&mut long, shown).as_deref(), Some("abc\ndefg\nh\n"));
        assert_eq!(long.len(), 2);
        assert_eq!(long[1].text, "[the logs are longer than 6 bytes or 3 lines, and 2 of 3 entries are left out here]");
        let mut many = logs(&["\n\n", "x"]);
        many[0].level = LogLevel::Warn;
        assert_eq!(cut_logs(&mut many, shown).as_deref(), Some("[warn] \n\n\nx\n"));
    }

    #[test]
    fn a_limit_that_was_asked_for_holds_for_what_leaves_the_jar() {
        let settings = ArtifactSettings::default();
        let wide = roomier(Limits::default(), &LimitsPatch::default(), &settings);
        assert_eq!((wide.max_output, wide.max_logs), (ByteSize::mib(16), ByteSize::mib(1)));
        let asked = LimitsPatch { max_output: Some(ByteSize::kib(1)), ..LimitsPatch::default() };
        let limits = asked.within(&Limits::default()).expect("less");
        assert_eq!(roomier(limits, &asked, &settings).max_output, ByteSize::kib(1));
    }
}
