//! See `toolwright_fuzz` for what must hold.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| toolwright_fuzz::html(data));
