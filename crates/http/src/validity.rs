//! How long the token of an open connection is valid. The token of a request is checked when the
//! request comes; that of a WebSocket is checked again whenever it may have become invalid.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{sync::watch, time::sleep};

use crate::{Principal, Tokens, tokens::TokenDigest};

/// How often the clock is checked: it may be set, or continue while the machine sleeps.
const CLOCK: Duration = Duration::from_secs(30);

/// The token by which a client is a principal.
pub(crate) enum Validity {
    /// There is no token: the client is the owner at the socket.
    #[cfg(unix)]
    Always,
    /// A token that the owner made; valid as long as it stands for the same principal.
    Token { digest: TokenDigest, principal: Principal, tokens: watch::Receiver<Arc<Tokens>> },
    /// A token of the authorization server; valid until this Unix time.
    Until(Duration),
}

impl Validity {
    /// Whether the token is valid at this moment.
    pub(crate) fn is_valid(&self) -> bool {
        match self {
            #[cfg(unix)]
            Self::Always => true,
            Self::Token { digest, principal, tokens } => {
                tokens.borrow().principal_of(digest).as_ref() == Some(principal)
            }
            Self::Until(until) => now() < *until,
        }
    }

    /// Completes when the token is no longer valid: it was removed, has another secret or other
    /// scopes, or has expired.
    pub(crate) async fn ended(self) {
        match self {
            #[cfg(unix)]
            Self::Always => std::future::pending().await,
            Self::Token { digest, principal, mut tokens } => {
                let is_other = |tokens: &Arc<Tokens>| tokens.principal_of(&digest).as_ref() != Some(&principal);
                if tokens.wait_for(is_other).await.is_err() {
                    // The server is ending, and its connections end with it.
                    std::future::pending::<()>().await;
                }
            }
            Self::Until(until) => {
                let left = || until.saturating_sub(now());
                while !left().is_zero() {
                    sleep(left().min(CLOCK)).await;
                }
            }
        }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use futures::FutureExt as _;

    use super::*;
    use crate::Scope;

    #[tokio::test]
    async fn a_token_is_valid_until_it_is_removed_rotated_or_means_something_else() {
        type Change = fn(&mut Tokens);
        let changes: [(Change, bool); 4] = [
            (|tokens| drop(tokens.add("other", BTreeSet::new(), 1)), true),
            (|tokens| tokens.remove("ann").expect("removed"), false),
            (|tokens| drop(tokens.rotate("ann", 1).expect("rotated")), false),
            (|tokens| *tokens = Tokens::default(), false),
        ];
        for (change, is_valid) in changes {
            let mut tokens = Tokens::default();
            let shown = tokens.add("ann", BTreeSet::from([Scope::Run]), 0).expect("a token").reveal().to_owned();
            let principal = tokens.principal(&shown).expect("known");
            let (sender, receiver) = watch::channel(Arc::new(tokens.clone()));
            let digest = TokenDigest::of(&shown);
            let mut ended = Box::pin(Validity::Token { digest, principal, tokens: receiver }.ended());
            assert!(ended.as_mut().now_or_never().is_none());
            change(&mut tokens);
            sender.send_replace(Arc::new(tokens));
            assert_eq!(ended.now_or_never().is_none(), is_valid);
        }
    }

    #[tokio::test]
    async fn a_token_of_the_authorization_server_is_valid_until_it_expires() {
        assert!(Validity::Until(now()).ended().now_or_never().is_some());
        assert!(Validity::Until(Duration::MAX).is_valid() && !Validity::Until(now()).is_valid());
        assert!(Validity::Until(Duration::MAX).ended().now_or_never().is_none());
        Validity::Until(now() + Duration::from_millis(20)).ended().await;
    }
}
