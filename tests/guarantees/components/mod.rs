//! A component that somebody else built runs within the same walls as a script, with the tools that
//! it imports and nothing else.

mod any_tool;
mod calls;
mod choices;
mod commands;
mod forged;
mod hijacked;
mod imports;
mod languages;
mod lists;
mod marks;
mod media;
mod mutated;
mod people;
mod recordings;
mod repeats;
mod support;
mod walls;
mod wasi;
