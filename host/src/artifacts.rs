//! Artifacts as an MCP server offers them to its clients.

use std::{collections::BTreeSet, fmt, sync::Arc};

use belljar_ledger::{ArtifactEntry, ArtifactError, Artifacts, Asker, Holder, Ledger, LedgerError, Mark};
use belljar_model::{ArtifactId, ArtifactRef, ArtifactSettings, LedgerLevel};
use belljar_policy::Policy;

use crate::setup::{self, Loaded};

/// How the owner's rules name the caller without a token.
const OWNER: &str = "owner";

/// The artifacts of a configuration, and the rules that remember who has read them.
#[derive(Clone)]
pub(crate) struct KeptArtifacts {
    store: Arc<dyn Artifacts>,
    /// The rules that remember who has received labelled answers, and the ledger that keeps this.
    rules: Option<(Arc<Policy>, Arc<dyn Ledger>)>,
}

/// Why an artifact cannot be read.
#[derive(Debug)]
pub(crate) enum Unread {
    NotThere,
    TooLarge { used: u64, max: u64 },
    Withheld(LedgerError),
    Failed(ArtifactError),
}

impl From<ArtifactError> for Unread {
    fn from(error: ArtifactError) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere => formatter.write_str("there is no such artifact"),
            Self::TooLarge { used, max } => write!(
                formatter,
                "the artifact has {used} bytes, and a resource may have {max}: read parts of it in a script with artifacts.text"
            ),
            Self::Withheld(error) => write!(
                formatter,
                "the artifact is withheld: the owner's rules remember who has such answers, and that could not be kept: {error}"
            ),
            Self::Failed(error) => write!(formatter, "{error} ({})", error.hint()),
        }
    }
}

/// The settings of a configuration's artifacts, or `None` if it has none: without a ledger nothing
/// is kept.
pub(crate) fn settings(loaded: &Loaded) -> Option<ArtifactSettings> {
    let is_kept = loaded.config.ledger.level != LedgerLevel::Off;
    Some(loaded.config.artifacts).filter(|settings| settings.enabled && is_kept)
}

impl KeptArtifacts {
    /// The artifacts of a configuration, or `None` if it has none.
    pub(crate) fn of(loaded: &Loaded) -> Option<Self> {
        let settings = settings(loaded)?;
        let ledger = setup::ledger_of(&loaded.config.ledger);
        let store = Arc::new(ledger.artifacts(settings));
        let policy = loaded.policy.as_ref().map(|rules| rules.policy.clone());
        let rules = policy.filter(|policy| policy.memory().is_some());
        let rules = rules.map(|policy| (policy, Arc::new(ledger) as Arc<dyn Ledger>));
        Some(Self { store, rules })
    }

    /// A page of a holder's artifacts, the latest first.
    pub(crate) async fn page(
        &self,
        holder: &Holder,
        before: Option<ArtifactId>,
        limit: u32,
    ) -> Result<Vec<ArtifactEntry>, Unread> {
        let entries = self.store.list(holder.clone(), before, limit).await?;
        // A name may say something of the content.
        self.remember(holder, &entries).await?;
        Ok(entries)
    }

    /// An artifact of a holder, if it has at most `max` bytes.
    pub(crate) async fn read(
        &self,
        holder: &Holder,
        id: ArtifactId,
        max: u64,
    ) -> Result<(ArtifactEntry, Vec<u8>), Unread> {
        let entry = self.store.entry(holder.clone(), ArtifactRef::Id(id)).await?.ok_or(Unread::NotThere)?;
        if entry.bytes > max {
            return Err(Unread::TooLarge { used: entry.bytes, max });
        }
        self.remember(holder, std::slice::from_ref(&entry)).await?;
        let content = self.store.whole(holder.clone(), id).await?.ok_or(Unread::NotThere)?;
        Ok((entry, content))
    }

    /// Records that a principal has artifacts with labels, before the principal gets them.
    async fn remember(&self, holder: &Holder, entries: &[ArtifactEntry]) -> Result<(), Unread> {
        let Some((policy, ledger)) = &self.rules else { return Ok(()) };
        let labels = entries.iter().flat_map(|entry| &entry.labels).filter(|label| policy.label(label).is_some());
        let labels: BTreeSet<String> = labels.cloned().collect();
        let labels: Vec<String> = labels.into_iter().collect();
        // Labels come from a run.
        let run = entries.iter().find_map(|entry| entry.run.filter(|_| !entry.labels.is_empty()));
        let Some(run) = run.filter(|_| !labels.is_empty()) else { return Ok(()) };
        let asker = Asker::new(holder.principal.as_deref(), None);
        let principal = asker.principal().unwrap_or(OWNER).to_owned();
        ledger.mark(Mark { principal, labels, run }).await.map_err(Unread::Withheld)
    }
}
