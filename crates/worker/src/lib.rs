//! Worker processes: a program starts itself again in another role, for work that it must be able
//! to kill.
//!
//! Some work cannot be bounded from inside a process: a regular expression over a long text, a
//! filter that a model wrote. A thread cannot be killed; a process can, and the system bounds its
//! memory and its processor time. The parent starts a [`Worker`] and exchanges frames of bytes with
//! it. The child begins its role with [`Role::begin`], which gives up everything that the role does
//! not need.
//!
//! This crate does not know what the frames mean, and neither side trusts the other's: every length
//! is checked before memory is allocated for it, and every wait of the parent has a limit.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bounds;
#[cfg(unix)]
mod descriptors;
mod frames;
#[cfg(unix)]
mod memory_group;
mod role;
mod start;
mod worker;

pub use bounds::Bounds;
#[cfg(unix)]
pub use descriptors::close_inherited;
pub use frames::{FrameError, FrameReader, FrameWriter};
#[cfg(unix)]
pub use memory_group::{MemoryGroup, NoMemoryGroup};
pub use role::{BeginError, Role};
pub use start::{StartError, WorkerProgram};
pub use worker::{AskError, Worker, WorkerPipes, WorkerProcess};
