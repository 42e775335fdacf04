//! The connections of belljar's HTTP servers.
//!
//! `places` has room for them, and says which is closed when there is none left. `patience` ends
//! one whose client reads nothing. `held` keeps something until an answer was sent.
//!
//! It knows no request, and accepts nothing itself.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod held;
mod patience;
mod places;

pub use held::Held;
pub use patience::Patient;
pub use places::{Answering, Connections, Place};
