//! Values that live on between runs, as one run reads and changes them.
//!
//! What a script assigns is noted while it runs, and written once it has ended by itself. Whatever
//! comes from the guest is checked here: names, JSON, versions, and how much is noted. The limits
//! of a holder are enforced by the store.
//!
//! A value has the labels of the run that wrote it. A run that reads the value gets these labels
//! before the script has the value, as if a call had brought them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use belljar_ledger::{
    Changed, Holder, KeepAuthor, KeepBounds, KeepChange, KeptEntry, KeptValue, Ledger, LedgerError, MAX_KEPT_NAME,
    Replaces, Swapped,
};
use belljar_model::{JsonBounds, JsonError, JsonText, KeepSettings};
use belljar_sandbox::NotAnswered;
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tokio::task::spawn_blocking;

use crate::{Toolbox, labels::Carrier, rules::AsRules, run_log::RunLog};

/// Longer questions and values are read on their own thread.
const AT_ONCE_BYTES: usize = 256 * 1024;
/// The most bytes of a question besides its value.
const AROUND_BYTES: usize = 64 * 1024;
/// The most names in one warning.
const NAMED: usize = 5;

/// The kept values of one run.
pub(crate) struct RunKeeps {
    toolbox: Arc<Toolbox>,
    log: Arc<RunLog>,
    holder: Holder,
    bounds: KeepBounds,
    noted: Mutex<Noted>,
}

/// What is to be written when the script has ended.
#[derive(Default)]
struct Noted {
    changes: BTreeMap<String, (Option<String>, Replaces)>,
    bytes: u64,
    /// Names for which there was no room among the changes.
    left_out: BTreeSet<String>,
}

/// A question of the guest in its JSON form.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Question<'a> {
    Get(String),
    Keys {},
    Swap {
        name: String,
        version: Option<i64>,
        #[serde(borrow)]
        value: &'a RawValue,
    },
    Set {
        name: String,
        #[serde(default, deserialize_with = "given")]
        version: Option<Option<i64>>,
        #[serde(borrow)]
        value: &'a RawValue,
    },
    Delete {
        name: String,
        #[serde(default, deserialize_with = "given")]
        version: Option<Option<i64>>,
    },
}

/// A question whose names and values have been checked.
enum Asked {
    Get(String),
    Keys,
    Swap { name: String, version: Option<i64>, text: String },
    Set { name: String, version: Option<Option<i64>>, text: String },
    Delete { name: String, version: Option<Option<i64>> },
}

impl Asked {
    /// Reads a question whose value is within these bounds.
    async fn read(question: String, bounds: JsonBounds) -> Result<Self, NotAnswered> {
        let most = bounds.bytes.saturating_add(AROUND_BYTES);
        if question.len() > most {
            let text = format!("this has {} bytes as JSON; the limit is {most} ([keep] max_bytes)", question.len());
            return Err(NotAnswered::new(text, "keep less of it"));
        }
        if question.len() <= AT_ONCE_BYTES {
            return Self::parse(&question, &bounds);
        }
        let read = spawn_blocking(move || Self::parse(&question, &bounds)).await;
        read.unwrap_or_else(|_| Err(NotAnswered::new("the value could not be read", "keep less of it")))
    }

    fn parse(question: &str, bounds: &JsonBounds) -> Result<Self, NotAnswered> {
        let question: Question<'_> = serde_json::from_str(question).map_err(|error| {
            NotAnswered::argument(format!("this is not a question about kept values: {error}"), "use keep.name")
        })?;
        let text = |value: &RawValue| {
            let text = JsonText::parse(value.get().to_owned(), bounds);
            text.map(JsonText::into_string).map_err(|fault| NotAnswered::new(fault.to_string(), "keep less of it"))
        };
        Ok(match question {
            Question::Get(name) => Self::Get(checked(name)?),
            Question::Keys {} => Self::Keys,
            Question::Swap { name, version, value } => Self::Swap { name: checked(name)?, version, text: text(value)? },
            Question::Set { name, version, value } => Self::Set { name: checked(name)?, version, text: text(value)? },
            Question::Delete { name, version } => Self::Delete { name: checked(name)?, version },
        })
    }
}

/// A version that is given, even if it is `null` to say that there is none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The members, in the order of the contract.
#[derive(Serialize)]
struct Found<'a> {
    version: i64,
    value: &'a JsonText,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Done {
    done: i64,
}

/// Why nothing can be read or written.
#[derive(Debug, thiserror::Error)]
enum NoStore {
    #[error("there is no ledger to keep values in")]
    NoLedger,
    #[error("the ledger is off, and nothing is kept without it")]
    Off,
}

impl RunKeeps {
    /// The values of this holder, if the owner lets scripts have any.
    pub(crate) fn of(toolbox: &Arc<Toolbox>, log: &Arc<RunLog>, holder: &Holder) -> Option<Self> {
        let KeepSettings { max_bytes, max_keys, days, .. } = *Some(toolbox.keep()).filter(|keep| keep.enabled)?;
        let age = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
        Some(Self {
            toolbox: toolbox.clone(),
            log: log.clone(),
            holder: holder.clone(),
            bounds: KeepBounds { max_bytes, max_keys, age },
            noted: Mutex::default(),
        })
    }

    fn ledger(&self) -> Result<&Arc<dyn Ledger>, NoStore> {
        match self.log.ledger() {
            Some(ledger) => Ok(ledger),
            None if self.toolbox.told().ledger.is_some() => Err(NoStore::Off),
            None => Err(NoStore::NoLedger),
        }
    }

    /// Answers a question of the guest, for a run of this caller.
    ///
    /// # Errors
    /// Why there is no answer, for the script's author.
    pub(crate) async fn answer(&self, question: String, who: &AsRules) -> Result<JsonText, NotAnswered> {
        match Asked::read(question, self.json_bounds()).await? {
            Asked::Get(name) => {
                let ledger = match self.ledger() {
                    Ok(ledger) => ledger,
                    // The owner lets nothing be kept, so there is nothing.
                    Err(NoStore::Off) => return Ok(nothing()),
                    Err(fault) => return Err(unusable(&fault)),
                };
                let found = ledger.keeps().kept(self.holder.clone(), name.clone(), self.bounds).await;
                self.found(&name, found.map_err(|fault| failed(&fault))?, who).await
            }
            Asked::Keys => {
                let ledger = match self.ledger() {
                    Ok(ledger) => ledger,
                    Err(NoStore::Off) => return Ok(JsonText::from_serializable(&[(); 0])),
                    Err(fault) => return Err(unusable(&fault)),
                };
                // A name may reveal as much as a value.
                let entries = self.entries(ledger, who).await?;
                let names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
                Ok(JsonText::from_serializable(&names))
            }
            Asked::Swap { name, version, text } => {
                let ledger = self.ledger().map_err(|fault| unusable(&fault))?;
                let author = self.author(who);
                let swapped = ledger.keeps().swap_kept(author, (name.clone(), text), version, self.bounds).await;
                match swapped.map_err(|fault| failed(&fault))? {
                    Swapped::Made(version) => Ok(JsonText::from_serializable(&Done { done: version })),
                    Swapped::Other(found) => self.found(&name, found, who).await,
                    Swapped::NoRoom(no_room) => {
                        // The message reveals how much there is under all other names.
                        self.entries(ledger, who).await?;
                        Err(NotAnswered::new(no_room.to_string(), "`belljar keep list` shows its owner what there is"))
                    }
                }
            }
            Asked::Set { name, version, text } => {
                self.note(name, Some(text), self.replaces(version));
                Ok(nothing())
            }
            Asked::Delete { name, version } => {
                self.note(name, None, self.replaces(version));
                Ok(nothing())
            }
        }
    }

    /// What the holder has. The run gets the labels of all of it.
    async fn entries(&self, ledger: &Arc<dyn Ledger>, who: &AsRules) -> Result<Vec<KeptEntry>, NotAnswered> {
        let entries = ledger.keeps().kept_entries(self.holder.clone(), self.bounds).await;
        let entries = entries.map_err(|fault| failed(&fault))?;
        self.bring(entries.iter().flat_map(|entry| entry.labels.iter().cloned()), who).await?;
        Ok(entries)
    }

    /// A value as the guest gets it. The run gets its labels.
    async fn found(&self, name: &str, found: Option<KeptValue>, who: &AsRules) -> Result<JsonText, NotAnswered> {
        let Some(KeptValue { text, version, labels }) = found else { return Ok(nothing()) };
        self.bring(labels.into_iter(), who).await?;
        let (is_short, bounds) = (text.len() <= AT_ONCE_BYTES, self.json_bounds());
        let read = move || -> Result<JsonText, JsonError> {
            let value = JsonText::parse(text, &bounds)?;
            Ok(JsonText::from_serializable(&Found { version, value: &value }))
        };
        let read = if is_short {
            read()
        } else {
            let failed = |_| NotAnswered::new("the value could not be read", "run it again later");
            spawn_blocking(read).await.map_err(failed)?
        };
        read.map_err(|fault| {
            let hint = "its owner can remove it with `belljar keep rm`";
            NotAnswered::new(format!("what there is under the name '{name}' is not a kept value: {fault}"), hint)
        })
    }

    /// Gives the run the labels of what it reads. This must be done before the run has the value.
    async fn bring(&self, names: impl Iterator<Item = String>, who: &AsRules) -> Result<(), NotAnswered> {
        let names: BTreeSet<String> = names.collect();
        let names: Vec<String> = names.into_iter().collect();
        let received = self.toolbox.receive(Carrier { who, run: self.log.run() }, &names).await;
        received
            .map_err(|withheld| NotAnswered::new(format!("the value is withheld: {withheld}"), "run it again later"))
    }

    fn author(&self, who: &AsRules) -> KeepAuthor {
        KeepAuthor { holder: self.holder.clone(), run: self.log.run(), labels: self.toolbox.carried(who) }
    }

    fn replaces(&self, version: Option<Option<i64>>) -> Replaces {
        version.map_or_else(|| Replaces::AsOf(self.log.began()), Replaces::Version)
    }

    /// A value is returned inside an object, so it may nest one level less.
    fn json_bounds(&self) -> JsonBounds {
        let bytes = usize::try_from(self.bounds.max_bytes.as_u64()).unwrap_or(usize::MAX);
        JsonBounds { depth: JsonBounds::DEPTH - 1, ..JsonBounds::with_bytes(bytes) }
    }

    /// Notes a change, which replaces an earlier one of this name.
    fn note(&self, name: String, text: Option<String>, replaces: Replaces) {
        let mut noted = self.noted.lock();
        let size = |text: &Option<String>| text.as_ref().map_or(0, String::len) as u64;
        let before = noted.changes.remove(&name).map_or(0, |(before, _)| size(&before));
        noted.bytes = noted.bytes.saturating_sub(before);
        let bytes = noted.bytes.saturating_add(size(&text));
        // Twice as many as there can be, since each existing value may be deleted too.
        let is_one_too_many = noted.changes.len() as u64 >= u64::from(self.bounds.max_keys).saturating_mul(2);
        if bytes > self.bounds.max_bytes.as_u64() || is_one_too_many {
            if noted.left_out.len() < NAMED {
                noted.left_out.insert(name);
            }
            return;
        }
        noted.bytes = bytes;
        noted.changes.insert(name, (text, replaces));
    }

    /// Writes what the script has changed, once it has ended by itself, and returns what its author
    /// must know.
    pub(crate) async fn write(&self, who: &AsRules) -> Vec<String> {
        let Noted { changes, left_out, .. } = std::mem::take(&mut *self.noted.lock());
        let mut told = Vec::new();
        if !left_out.is_empty() {
            let KeepBounds { max_bytes, max_keys, .. } = self.bounds;
            told.push(format!(
                "{} not kept: a workspace has at most {max_bytes} and {max_keys} kept values; keep less",
                these(left_out.iter())
            ));
        }
        if changes.is_empty() {
            return told;
        }
        let names: Vec<String> = changes.keys().cloned().collect();
        let changes = changes.into_iter().map(|(name, (text, replaces))| KeepChange { name, text, replaces }).collect();
        let done = match self.ledger() {
            Ok(ledger) => ledger.keeps().change_kept(self.author(who), changes, self.bounds).await,
            Err(fault) => {
                let hint = unusable(&fault).hint.unwrap_or_default();
                told.push(format!("{} not kept: {fault} ({hint})", these(names.iter())));
                return told;
            }
        };
        match done {
            Ok(done) => {
                let of_each = names.iter().zip(done);
                told.extend(of_each.filter_map(|(name, done)| said(name, done)));
            }
            Err(fault) => told.push(format!("{} not kept: {fault} ({})", these(names.iter()), fault.hint())),
        }
        told
    }
}

/// The message about a change, if it needs one.
fn said(name: &str, done: Changed) -> Option<String> {
    let name = shown(name);
    match done {
        Changed::Made { over_another: false, .. } => None,
        Changed::Made { over_another: true, version } => {
            let now = if version.is_some() { "this run's value is in its place" } else { "it is deleted" };
            Some(format!(
                "another run changed {name} while this one ran, and that change is lost: {now} (keep.$update changes a value in one step)"
            ))
        }
        Changed::NoRoom(no_room) => Some(format!("{name} is not kept: {no_room}")),
    }
}

fn these<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    let count = names.len();
    let named: Vec<String> = names.take(NAMED).map(|name| shown(name)).collect();
    match count.saturating_sub(named.len()) {
        0 if count == 1 => format!("{} is", named.join(", ")),
        0 => format!("{} are", named.join(", ")),
        others => format!("{} and {others} others are", named.join(", ")),
    }
}

/// How a script writes a value's name.
fn shown(name: &str) -> String {
    let is_part = |character: char| character.is_alphanumeric() || "_$".contains(character);
    let is_identifier = name.chars().all(is_part) && !name.starts_with(|first: char| first.is_ascii_digit());
    if is_identifier { format!("keep.{name}") } else { format!("keep[{name:?}]") }
}

/// Checks that a value can have this name.
fn checked(name: String) -> Result<String, NotAnswered> {
    let fault = if name.is_empty() {
        "is empty".to_owned()
    } else if name.starts_with('$') {
        "begins with $".to_owned()
    } else if name.len() > MAX_KEPT_NAME {
        format!("has {} bytes; the limit is {MAX_KEPT_NAME}", name.len())
    } else {
        return Ok(name);
    };
    Err(NotAnswered::argument(format!("the name of a kept value {fault}"), "use another name"))
}

fn nothing() -> JsonText {
    JsonText::from_serializable(&Nothing {})
}

fn unusable(fault: &NoStore) -> NotAnswered {
    let hint = match fault {
        NoStore::NoLedger => "the host of this run has to give it one",
        NoStore::Off => "its owner can set [ledger] level to \"calls\"",
    };
    NotAnswered::new(fault.to_string(), hint)
}

fn failed(fault: &LedgerError) -> NotAnswered {
    NotAnswered::new(fault.to_string(), fault.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_as_the_contract_has_it_and_nothing_else_is() {
        let read = |text: &str| Asked::parse(text, &JsonBounds::with_bytes(100)).is_ok();
        for text in [
            r#"{"get":"a"}"#,
            r#"{"keys":{}}"#,
            r#"{"swap":{"name":"a","version":null,"value":[1,{"b":2}]}}"#,
            r#"{"set":{"name":"a","value":"x"}}"#,
            r#"{"delete":{"name":"a","version":3}}"#,
        ] {
            assert!(read(text), "{text}");
        }
        for text in ["", "{}", r#"{"get":1}"#, r#"{"get":"a","keys":{}}"#, r#"{"set":{"name":"a"}}"#, r#"{"clear":{}}"#]
        {
            assert!(!read(text), "{text}");
        }
        let version = |text: &str| match serde_json::from_str(text) {
            Ok(Question::Delete { version, .. }) => version,
            _ => None,
        };
        assert_eq!(version(r#"{"delete":{"name":"a"}}"#), None);
        assert_eq!(version(r#"{"delete":{"name":"a","version":null}}"#), Some(None));
        assert_eq!(version(r#"{"delete":{"name":"a","version":3}}"#), Some(Some(3)));
    }

    #[test]
    fn a_name_is_shown_as_scripts_write_it() {
        assert_eq!([shown("list"), shown("a b"), shown("1")], ["keep.list", "keep[\"a b\"]", "keep[\"1\"]"]);
        let many: Vec<String> = (0..7).map(|at| format!("n{at}")).collect();
        assert_eq!(these(many.iter()), "keep.n0, keep.n1, keep.n2, keep.n3, keep.n4 and 2 others are");
        assert_eq!(these(many.iter().take(1)), "keep.n0 is");
    }

    #[test]
    fn names_that_no_value_can_have_are_refused() {
        for name in ["", "$update", &"a".repeat(257)] {
            assert!(checked(name.to_owned()).is_err_and(|refusal| refusal.is_argument), "{name}");
        }
        assert!(checked("a".repeat(256)).is_ok() && checked("then".to_owned()).is_ok());
    }
}
