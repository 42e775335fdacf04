//! What a sandbox shares with belljar's engine for components that others built: the clocks of a
//! run, the ticks at which it is interrupted, the errors for the limits that end it, and the code
//! that records and replays it.

pub use belljar_image::WASMTIME;

pub use crate::{
    calls::{MAX_ERROR, milliseconds},
    compared::compared,
    failure::{cancelled, limit},
    meter::{Meter, Phase},
    recorder::Recorder,
    replay::{CallEnd, HandOver, Replay, Stop},
    sandbox::since_1970,
    ticker::{Running, Ticker},
};
