//! A hostile worker, seen from its parent. `toolwright_fuzz` describes what must hold for any
//! input.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| toolwright_fuzz::worker_wire(data));
