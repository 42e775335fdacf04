//! A component that somebody else built runs within the same walls as a script, with the tools that
//! it imports and nothing else.

mod calls;
mod commands;
mod imports;
mod languages;
mod support;
mod walls;
