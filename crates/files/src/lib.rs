//! Files of the user: those that belljar creates can be read by their owner only, and those that it
//! trusts cannot have been written by anybody else.
//!
//! The process's umask does not matter: a permissive one makes nothing readable to others, and a
//! restrictive one makes nothing unusable.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod private;
mod text;
mod trust;

pub use private::{make_folder, open, own_folder};
pub use text::read_text;
pub use trust::{Distrust, check_file, check_folder, check_link};
