//! Files of the user: those that belljar makes are readable by their owner only, and those that it
//! trusts cannot have been written by anybody else.
//!
//! The process's umask does not matter: with a wide one nothing becomes readable, and with a narrow
//! one nothing becomes unusable.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod private;
mod text;
mod trust;

pub use private::{make_folder, open, own_folder};
pub use text::read_text;
pub use trust::{Distrust, check_file, check_folder, check_link};
