//! Hostile scripts, values, children and clients. `catalogue` lists every attack with its tests;
//! the other modules have those that are not in other guarantees' modules.

mod arena;
mod baseline;
mod calls;
mod catalogue;
mod children;
mod clients;
mod component;
mod cpu;
mod escape;
mod extremes;
mod floods;
mod holdings;
mod isolation;
mod logs;
mod memory;
mod names;
mod processes;
mod schemas;
#[cfg(target_os = "linux")]
mod second_wall;
#[cfg(target_os = "linux")]
mod second_wall_memory;
mod secrets;
mod stack;
mod supply;
mod table;
mod texts;
mod trust;
mod values;
mod workspace;
