//! Files of the user's: those that belljar makes are their owner's alone, and those that it
//! believes can have been written by nobody else.
//!
//! What the process's umask says counts for neither: with a wide one nothing becomes readable, and
//! with a narrow one nothing becomes unusable.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod private;
mod text;
mod trust;

pub use private::{make_folder, open, own_folder};
pub use text::read_text;
pub use trust::{Distrust, check_file, check_folder, check_link};
