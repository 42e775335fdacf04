//! Fetches the keys of the authorization server, one fetch at a time, and at a rate that its owner
//! can accept.
//!
//! A separate task does this: a client that hangs up while it waits does not end a fetch, and so
//! cannot use up the fetches of others.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use tokio::{sync::watch, time::Instant};
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::{Documents, keys::Keys};

/// Keys older than this are fetched again, but remain valid meanwhile.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// Keys older than this are no longer valid: a key that the issuer has withdrawn is accepted for at
/// most this long, whatever happens to the fetches.
const GOOD: Duration = Duration::from_secs(60 * 60);
/// How many fetches there may be in a row. An unknown key causes one, so a server that changes its
/// keys is asked at once.
const BURST: u32 = 4;
/// After those, one fetch is allowed in this time.
const PACE: Duration = Duration::from_secs(30);
/// How long one fetch may take, with all its requests.
const FETCH: Duration = Duration::from_secs(15);

/// The authorization server's keys.
pub(super) struct Issuer {
    /// The latest round that somebody waits for.
    wanted: watch::Sender<u64>,
    fetched: watch::Receiver<Fetched>,
    _task: AbortOnDropHandle<()>,
}

/// The result of the fetches.
#[derive(Default)]
struct Fetched {
    /// How many rounds were answered, with or without a fetch.
    round: u64,
    keys: Option<(Arc<Keys>, Instant)>,
}

impl Fetched {
    fn good(&self) -> Option<Arc<Keys>> {
        self.keys.as_ref().filter(|(_, since)| since.elapsed() < GOOD).map(|(keys, _)| keys.clone())
    }

    fn is_fresh(&self) -> bool {
        self.keys.as_ref().is_some_and(|(_, since)| since.elapsed() < FRESH)
    }
}

impl Issuer {
    /// Creates it. Nothing is fetched yet.
    pub(super) fn new(issuer: String, url: &Url, documents: Arc<dyn Documents>) -> Self {
        let (wanted, wishes) = watch::channel(0);
        let (results, fetched) = watch::channel(Fetched::default());
        let fetcher = Fetcher { places: places(&issuer, url), issuer, documents };
        let task = AbortOnDropHandle::new(tokio::spawn(fetcher.run(wishes, results)));
        Self { wanted, fetched, _task: task }
    }

    /// The known keys, and the round from which they are. If they are old, they are fetched again
    /// meanwhile.
    pub(super) fn keys(&self) -> (Option<Arc<Keys>>, u64) {
        let fetched = self.fetched.borrow();
        if !fetched.is_fresh() {
            self.ask(fetched.round);
        }
        (fetched.good(), fetched.round)
    }

    /// The keys after that round.
    pub(super) async fn after(&self, round: u64) -> Option<Arc<Keys>> {
        self.ask(round);
        // The task lives as long as this value.
        self.fetched.clone().wait_for(|fetched| fetched.round > round).await.ok()?.good()
    }

    fn ask(&self, round: u64) {
        self.wanted.send_if_modified(|wanted| {
            let is_news = *wanted <= round;
            *wanted = (*wanted).max(round + 1);
            is_news
        });
    }
}

struct Fetcher {
    issuer: String,
    /// Where the issuer's metadata may be.
    places: Vec<String>,
    documents: Arc<dyn Documents>,
}

impl Fetcher {
    async fn run(self, mut wishes: watch::Receiver<u64>, results: watch::Sender<Fetched>) {
        let mut budget = Budget::full();
        let mut round = 0;
        while wishes.wait_for(|wanted| *wanted > round).await.is_ok() {
            let keys = match budget.take() {
                true => self.in_time().await,
                false => None,
            };
            round += 1;
            results.send_modify(|fetched| {
                fetched.round = round;
                if let Some(keys) = keys {
                    fetched.keys = Some((Arc::new(keys), Instant::now()));
                }
            });
        }
    }

    async fn in_time(&self) -> Option<Keys> {
        let fetched = tokio::time::timeout(FETCH, self.fetch()).await;
        let fetched = fetched.unwrap_or_else(|_| Err(format!("it took more than {} seconds", FETCH.as_secs())));
        match fetched {
            Ok(keys) => {
                tracing::info!("the keys of {} were fetched", self.issuer);
                Some(keys)
            }
            Err(why) => {
                tracing::warn!("the keys of {} were not fetched: {why}", self.issuer);
                None
            }
        }
    }

    async fn fetch(&self) -> Result<Keys, String> {
        let mut trouble = String::new();
        for place in &self.places {
            match self.documents.get(place).await {
                Err(why) => trouble = why,
                Ok(text) => match self.place_of_keys(&text) {
                    // Some servers answer every request with a page, so the metadata may be at the
                    // next place.
                    Err(why) => trouble = why,
                    Ok(place) => {
                        let text = self.documents.get(&place).await?;
                        return Keys::read(&text).ok_or_else(|| "its document of keys is not a set of keys".to_owned());
                    }
                },
            }
        }
        Err(trouble)
    }

    /// The URL of the keys, from the issuer's metadata: RFC 8414.
    fn place_of_keys(&self, text: &[u8]) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }
        let metadata: Metadata = serde_json::from_slice(text)
            .map_err(|_| "its metadata is not a document with 'issuer' and 'jwks_uri'".to_owned())?;
        // Otherwise the metadata could be that of another issuer, served at this address.
        if metadata.issuer != self.issuer {
            return Err("its metadata is that of another issuer".to_owned());
        }
        Ok(metadata.jwks_uri)
    }
}

/// The URLs where an issuer's metadata may be: RFC 8414, and the two of OpenID Connect.
fn places(issuer: &str, url: &Url) -> Vec<String> {
    let path = url.path().trim_end_matches('/');
    let at_root = |name: &str| url.join(&format!("/.well-known/{name}{path}")).map(String::from).ok();
    let oauth = at_root("oauth-authorization-server");
    let openid = at_root("openid-configuration");
    let within = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let mut places: Vec<String> = [oauth, openid].into_iter().flatten().collect();
    if !places.contains(&within) {
        places.push(within);
    }
    places
}

/// How many fetches are left.
struct Budget {
    left: u32,
    /// When the next one is added.
    next: Instant,
}

impl Budget {
    fn full() -> Self {
        Self { left: BURST, next: Instant::now() }
    }

    fn take(&mut self) -> bool {
        let now = Instant::now();
        if self.left == BURST {
            self.next = now + PACE;
        }
        while self.left < BURST && self.next <= now {
            self.left += 1;
            self.next += PACE;
        }
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}
