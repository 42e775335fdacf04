//! What a sandbox has in common with belljar's engine for components of others: the clocks of a
//! run, the ticks at which it is interrupted, and the words for the limits that end it.

pub use crate::{
    calls::{MAX_ERROR, milliseconds},
    failure::{cancelled, limit},
    meter::{Meter, Phase},
    ticker::{Running, Ticker},
};
