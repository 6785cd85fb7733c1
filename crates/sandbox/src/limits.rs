//! What a call may use. The caller says so; nothing the program says changes it.

use std::time::Duration;

/// The most address space a worker has, whatever the limits of a call say.
pub(crate) const ADDRESS_SPACE: u64 = 1 << 30;
/// With less than this a worker does not get through its first call.
pub(crate) const LEAST_ADDRESS_SPACE: u64 = 640 << 20;
/// The deepest nesting of JSON that goes in or comes out.
pub const MAX_DEPTH: usize = 127;
/// The most host functions that may be answering one call at a time.
pub const MAX_HOST_CALLS: usize = 64;

/// The longest bytecode that a program may become.
pub(crate) const BYTECODE: usize = 8 << 20;
/// How many parts a result may have, or the arguments of a call to the host, and more if more than
/// a mebibyte is allowed: a byte of JSON can cost a hundred where it is read. A list or an object
/// counts as four parts, a comma or a colon as one.
pub const MAX_PARTS: usize = 192 << 10;

/// What the start of a list or of an object counts for.
const CONTAINER: usize = 4;

/// How many parts may be in `bytes` of JSON.
pub(crate) fn max_parts(bytes: usize) -> usize {
    MAX_PARTS.max(bytes / 16 * 3)
}

/// What a character outside of strings counts for.
pub(crate) fn weight(byte: u8) -> usize {
    match byte {
        b'[' | b'{' => CONTAINER,
        b',' | b':' => 1,
        _ => 0,
    }
}

/// The parts of a text that claims to be JSON. Anything else is not undercounted: it is refused
/// when it is read.
pub(crate) fn parts(json: &[u8]) -> usize {
    let (mut parts, mut in_string, mut escaped) = (0, false, false);
    for byte in json {
        if !in_string {
            parts += weight(*byte);
            in_string = *byte == b'"';
        } else if escaped {
            escaped = false;
        } else {
            escaped = *byte == b'\\';
            in_string = *byte != b'"';
        }
    }
    parts
}

/// The limits of one call.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The guest's time of the processor, from the arrival of the call to the written result.
    /// Waiting for a host function takes none.
    pub cpu: Duration,
    /// Time on the clock, looser, for a machine that is busy; it stands still while the guest waits
    /// for a host function.
    pub wall: Duration,
    /// The guest's memory beyond its input, up to 256 MiB.
    pub memory: usize,
    /// How deep calls may nest, in bytes of stack, up to 4 MiB.
    pub stack: usize,
    /// Bytes of arguments, data and globals together, as JSON.
    pub input: usize,
    /// Bytes of the result, as JSON, and of the arguments of each call to the host. See also
    /// [`MAX_PARTS`].
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

/// A limit as people say it: what is left of a call's time is 994.607198 ms.
pub(crate) fn whole(limit: Duration) -> Duration {
    match limit.as_millis() {
        0 => limit,
        ms => Duration::from_millis(ms as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_outside_of_strings() {
        for (json, expected) in [
            ("1", 0),
            ("[]", 4),
            ("[[],{}]", 13),
            (r#"{"a,b:[":"{\"[,","c":1}"#, 7),
            (r#"["\\",[]]"#, 9),
        ] {
            assert_eq!(parts(json.as_bytes()), expected, "{json}");
        }
    }
}
