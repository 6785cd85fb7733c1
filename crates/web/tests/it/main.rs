//! Tests of the library and of the three executables.

mod roundtrip;
