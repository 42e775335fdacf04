//! What has already been said.

use std::collections::{HashSet, VecDeque};

/// How many keys are remembered. An agent may be told again about older ones.
const MOST: usize = 16_384;

/// The keys of what was said. When it is full, the oldest is forgotten first.
#[derive(Debug, Default)]
pub struct Told {
    keys: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Told {
    /// Whether this key is new, as far as that is remembered.
    pub fn is_first(&mut self, key: u64) -> bool {
        if !self.keys.insert(key) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_remembers_a_bounded_number_and_forgets_the_oldest() {
        let mut told = Told::default();
        let most = u64::try_from(MOST).expect("a small number");
        assert!((0..=most).all(|key| told.is_first(key)));
        assert_eq!((told.keys.len(), told.order.len()), (MOST, MOST));
        assert!(!told.is_first(most) && told.is_first(0));
    }
}
