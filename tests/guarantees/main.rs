//! belljar's guarantees, a module for each. A module's name is what it is about; a test's name is the sentence that it proves.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod absent;
mod arguments;
mod bench;
mod cancellation;
mod command_line;
mod configuration;
mod context_cost;
mod daemon;
mod dead_children;
mod determinism;
mod differential;
mod doctor;
mod edit_config;
mod errors_teach;
mod every_file_is_compiled;
mod examples;
mod forms;
mod fuel;
mod generated;
mod hostile;
mod http;
mod install;
mod isolation;
mod ledger;
mod limits;
mod media;
mod namespaces;
mod numbers;
mod observed_results;
mod official_client;
mod real_servers;
mod replay;
mod request;
mod scripts;
mod select;
mod shared_state;
mod soak;
mod speed;
mod stub_server;
mod support;
mod tables;
mod tool_calls;
mod values;
mod web;
