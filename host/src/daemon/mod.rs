//! The warm process behind the commands. `place.rs` decides which one a command belongs to,
//! `reach.rs` finds, starts or replaces it, `faults.rs` reports errors on the way, and `log.rs` is
//! its log. Its work is in `backend/service.rs`.

mod faults;
mod log;
mod place;
mod reach;

pub(crate) use faults::{failed, fault_of, unreachable};
pub(crate) use log::to_file as log_to_file;
pub(crate) use place::{Place, fingerprint};
pub(crate) use reach::{reach, reach_in_any_case, start_at, stop};
