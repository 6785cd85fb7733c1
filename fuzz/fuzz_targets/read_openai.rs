//! The openai reader and the checks. `toolwright_fuzz` describes what must hold for any input.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| toolwright_fuzz::reader(data, "openai"));
