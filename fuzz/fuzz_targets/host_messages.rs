#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| belljar_host_protocol::fuzzing::host_messages(data));
