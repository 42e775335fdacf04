#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| belljar_model::fuzzing::json_text(data));
