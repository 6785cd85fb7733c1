//! What a call may use. The caller says so; nothing the program says changes it.

use std::time::Duration;

/// The most address space a worker has, whatever the limits of a call say.
pub(crate) const ADDRESS_SPACE: u64 = 1 << 30;
/// The deepest nesting of JSON that goes in or comes out.
pub const MAX_DEPTH: usize = 127;
/// The most host functions that may be answering one call at a time.
pub const MAX_HOST_CALLS: usize = 64;

/// The limits of one call.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The guest's time of the processor, from the arrival of the call to the written result. Waiting for a host function
    /// takes none.
    pub cpu: Duration,
    /// Time on the clock, looser, for a machine that is busy; it stands still while the guest waits for a host function.
    pub wall: Duration,
    /// The guest's memory beyond its input, up to 256 MiB.
    pub memory: usize,
    /// How deep calls may nest, in bytes of stack, up to 4 MiB.
    pub stack: usize,
    /// Bytes of arguments, data and globals together, as JSON.
    pub input: usize,
    /// Bytes of the result, as JSON, and of the arguments of each call to the host.
    pub output: usize,
    /// Bytes of the log; what is beyond is cut, and the log says so.
    pub log: usize,
}

impl Default for Limits {
    /// One second, 8 MiB, and a mebibyte in and out.
    fn default() -> Limits {
        Limits {
            cpu: Duration::from_secs(1),
            wall: Duration::from_secs(20),
            memory: 8 << 20,
            stack: 2 << 20,
            input: 1 << 20,
            output: 1 << 20,
            log: 64 << 10,
        }
    }
}
