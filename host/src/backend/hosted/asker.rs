//! Who runs scripts over the host protocol, and what they may ask for.

use belljar_gateway::{Asker, Gateway};
use belljar_http::{Principal, Scope};
use belljar_model::{Effect, ErrorKind, LimitError, LimitSpec, Limits, LimitsPatch, RunError};
use belljar_upstream::Caller;

use crate::setup::Setup;

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) enum HostAsker {
    /// The user who started belljar, or the same user at its socket.
    Owner,
    /// A principal, identified by its token.
    Principal {
        /// Its name.
        name: String,
        /// The highest effect of belljar's own tools that its runs may call.
        ceiling: Effect,
    },
}

impl HostAsker {
    /// The asker behind a request over HTTP. If its token allows only runs that change nothing,
    /// these get only those of belljar's own tools that change nothing.
    pub(crate) fn of(principal: &Principal) -> Self {
        if principal.is_owner() {
            return Self::Owner;
        }
        let ceiling = if principal.may(Scope::Run) { Effect::External } else { Effect::ReadOnly };
        Self::Principal { name: principal.name().to_owned(), ceiling }
    }

    /// The gateway for a run. `connection` distinguishes the owner's programs, which take turns.
    pub(super) fn gateway(&self, gateway: &Gateway, client: Option<&str>, connection: u64) -> Gateway {
        match self {
            Self::Owner => gateway.for_client(format!("host {connection}")).with_asker(Asker::new(None, client)),
            Self::Principal { name, ceiling } => gateway
                .for_client(format!("for {name}"))
                .with_asker(Asker::new(Some(name.as_str()), client))
                .with_ceiling(*ceiling),
        }
    }

    /// The limits that no run may exceed.
    pub(super) fn ceiling(&self, setup: &Setup) -> LimitsPatch {
        match self {
            Self::Owner => configured(&setup.limits, &setup.set_limits),
            Self::Principal { .. } => LimitsPatch::from(&setup.limits),
        }
    }

    /// The limits of a run that asks for these.
    ///
    /// # Errors
    /// It asks for more than it may.
    pub(super) fn limits(&self, asked: &LimitsPatch, setup: &Setup) -> Result<Limits, RunError> {
        let limits = match self {
            Self::Owner => within_configured(asked, &setup.limits, &setup.set_limits),
            Self::Principal { .. } => asked.within(&setup.limits),
        };
        limits.map_err(|error| {
            RunError::new(ErrorKind::Usage, error.to_string())
                .with_hint("ask for less, or have belljar's owner raise the limit in [limits] of the configuration")
        })
    }

    /// Whose instances of servers its runs use.
    pub(super) fn caller(&self) -> Caller {
        match self {
            Self::Owner => Caller::default(),
            Self::Principal { name, .. } => Caller::default().of_principal(name),
        }
    }
}

/// The limits that the configuration sets, and no others.
fn configured(limits: &Limits, set: &LimitsPatch) -> LimitsPatch {
    let mut ceiling = LimitsPatch::default();
    for spec in LimitSpec::ALL.iter().filter(|spec| (spec.is_set)(set)) {
        (spec.set_in)(&mut ceiling, (spec.get)(limits));
    }
    ceiling
}

/// The limits that the owner's program asks for. It may raise those that the configuration leaves
/// as they are: it could as well have started belljar with another configuration.
fn within_configured(asked: &LimitsPatch, limits: &Limits, set: &LimitsPatch) -> Result<Limits, LimitError> {
    let wanted = asked.over(limits);
    for spec in LimitSpec::ALL.iter().filter(|spec| (spec.is_set)(set)) {
        let (number, max) = ((spec.get)(&wanted), (spec.get)(limits));
        if number > max {
            return Err(LimitError { name: spec.name, max: spec.kind.text(max), asked: spec.kind.text(number) });
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_owners_program_may_raise_what_the_configuration_leaves_and_nothing_that_it_sets() {
        let set = LimitsPatch { timeout: Some(Duration::from_secs(60)), ..LimitsPatch::default() };
        let limits = set.over(&Limits::default());
        let asked = |seconds: u64| LimitsPatch {
            timeout: Some(Duration::from_secs(seconds)),
            max_calls: Some(50_000),
            ..LimitsPatch::default()
        };
        let wanted = within_configured(&asked(60), &limits, &set).expect("within");
        assert_eq!((wanted.timeout, wanted.max_calls), (Duration::from_secs(60), 50_000));
        let error = within_configured(&asked(61), &limits, &set).expect_err("above");
        assert!(error.to_string().contains("'timeout' may be at most 1m"), "{error}");
        assert_eq!(configured(&limits, &set), set);
    }
}
