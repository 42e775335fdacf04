//! Calls that need answers from the client before they can end, in the revision in which a server
//! sends no requests.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use rmcp::{
    ErrorData,
    model::{ClientCapabilities, InputRequest, InputRequests, InputRequiredResult, InputResponses},
};
use serde::Deserialize;

/// What a call asks for, round by round.
#[derive(Deserialize)]
pub(crate) struct Rounds {
    /// Whether the client gets a state that it must return.
    keeps_state: bool,
    /// The call's final result.
    pub(crate) says: String,
    rounds: Vec<Vec<String>>,
}

/// The states that clients were given, and the round that each stands for.
#[derive(Default)]
pub(crate) struct States(Mutex<HashMap<String, usize>>);

impl States {
    fn give(&self, round: usize) -> String {
        let mut given = self.0.lock();
        let state = format!("state-{}", given.len());
        given.insert(state.clone(), round);
        state
    }

    fn round(&self, state: &str) -> Option<usize> {
        self.0.lock().get(state).copied()
    }
}

impl Rounds {
    /// What is still missing; `None` if everything is there.
    pub(crate) fn next(
        &self,
        inputs: &BTreeMap<String, InputRequest>,
        states: &States,
        (responses, state): (Option<&InputResponses>, Option<&str>),
        abilities: &ClientCapabilities,
    ) -> Result<Option<InputRequiredResult>, ErrorData> {
        let round = match state.filter(|_| self.keeps_state) {
            None => 0,
            Some(state) => states
                .round(state)
                .ok_or_else(|| ErrorData::invalid_params("this requestState was not given by this server", None))?,
        };
        let begun = state.is_some() || !self.keeps_state;
        // Whatever is not an object answers nothing.
        let is_answered = |key: &String| responses.and_then(|all| all.get(key)).is_some_and(|one| one.is_object());
        let asked = |round: usize| -> Vec<&String> {
            let can = |key: &&String| inputs.get(*key).is_some_and(|input| is_possible(input, abilities));
            self.rounds.get(round).into_iter().flatten().filter(can).collect()
        };
        let answered = begun && asked(round).into_iter().all(is_answered);
        let round = if answered { round + 1 } else { round };
        if round >= self.rounds.len() {
            return Ok(None);
        }
        let needed = asked(round).into_iter().filter_map(|key| Some((key.clone(), inputs.get(key)?.clone())));
        let needed: InputRequests = needed.collect();
        Ok(Some(InputRequiredResult::new(Some(needed), self.keeps_state.then(|| states.give(round)))))
    }
}

fn is_possible(input: &InputRequest, abilities: &ClientCapabilities) -> bool {
    match input {
        InputRequest::Elicitation(_) => abilities.elicitation.is_some(),
        InputRequest::CreateMessage(_) => abilities.sampling.is_some(),
        InputRequest::ListRoots(_) => abilities.roots.is_some(),
        _ => false,
    }
}
