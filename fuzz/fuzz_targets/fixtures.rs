#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| belljar_recording::fuzzing::fixtures(data));
