//! What a sandbox has in common with belljar's engine for components of others: the clocks of a
//! run, the ticks at which it is interrupted, the words for the limits that end it, and what is
//! recorded of it and replayed.

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
