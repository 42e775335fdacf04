#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| belljar_fuzz_host::fuzzing::component_bytes(data));
