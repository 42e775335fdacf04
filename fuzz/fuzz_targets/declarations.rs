#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    belljar_guest_testing::fuzzing::is_typescript(&belljar_catalog::fuzzing::declared(data));
    for text in belljar_catalog::fuzzing::packages(data) {
        let read = wit_parser::Resolve::default().push_str("package.wit", &text);
        assert!(read.is_ok(), "{:#}\n{text}", read.unwrap_err());
    }
});
