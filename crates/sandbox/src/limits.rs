//! The limits of one call. The caller sets them; nothing that a program does changes them.
//!
//! The engine enforces most of them inside of the worker. Since a guest may have taken its worker
//! over, the parent enforces time and size again from outside (`worker_call`), and the operating
//! system enforces the address space (`jail`).

use std::time::Duration;

/// The address space of a worker in bytes, whatever the limits of a call say: the engine's region
/// of 512 MiB, blocks that are mapped one by one, the request, the result, and the binary itself.
pub(crate) const ADDRESS_SPACE: u64 = 1 << 30;
/// With less address space than this a worker cannot complete its first call.
pub(crate) const LEAST_ADDRESS_SPACE: u64 = 640 << 20;
/// How many levels JSON may be nested, on the way in and on the way out. `serde_json` stops at
/// 128.
pub const MAX_DEPTH: usize = 127;
/// How many calls to host functions may be in progress at a time, for one guest. More than any
/// caller allows in all, so that the caller notices the first call that is too many.
pub const MAX_HOST_CALLS: usize = 128;

/// The most bytes of bytecode that a program may be compiled to.
pub(crate) const MAX_BYTECODE: usize = 8 << 20;
/// How many parts a result, or the arguments of a call to the host, may have. Bytes alone are not
/// enough of a limit: text such as `[[0],[0],…]` takes a hundred times its length when it is
/// parsed. A list or an object counts as four parts, a comma or a colon as one. If the limit of
/// bytes is above 1 MiB, more parts are allowed in proportion.
pub const MAX_PARTS: usize = 192 << 10;

/// The number of parts for which the start of a list or of an object counts.
const PARTS_PER_CONTAINER: usize = 4;

/// How many parts JSON may have where `bytes` bytes of it are allowed.
pub(crate) fn max_parts(bytes: usize) -> usize {
    MAX_PARTS.max(bytes / 16 * 3)
}

/// The number of parts for which a character outside of strings counts. The worker counts while it
/// writes, the parent before it parses; both use this function so that they agree.
pub(crate) fn parts_of_byte(byte: u8) -> usize {
    match byte {
        b'[' | b'{' => PARTS_PER_CONTAINER,
        b',' | b':' => 1,
        _ => 0,
    }
}

/// Counts the parts of a JSON text without parsing it. Text that is not JSON may be miscounted;
/// the parser rejects it at its first mistake, so it cannot cost more than what was counted.
pub(crate) fn count_parts(json: &[u8]) -> usize {
    let (mut parts, mut in_string, mut escaped) = (0, false, false);
    for byte in json {
        if !in_string {
            parts += parts_of_byte(*byte);
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
pub struct GuestLimits {
    /// Processor time, from the arrival of the request to the serialized result. Waiting for a
    /// host function takes none.
    pub cpu: Duration,
    /// Wall-clock time, for guests that the system does not let run. Larger than `cpu`, because
    /// the machine may be busy. The clock stops while the guest waits for a host function.
    pub wall: Duration,
    /// Bytes of memory beyond the input, at most 256 MiB.
    pub memory: usize,
    /// Bytes of stack, which bounds how deep calls may nest; at most 4 MiB.
    pub stack: usize,
    /// Bytes of arguments, data and globals together, as JSON text.
    pub input: usize,
    /// Bytes of the result as JSON text, and of the arguments of each call to the host. See also
    /// [`MAX_PARTS`].
    pub output: usize,
    /// Bytes of the log. The rest is cut, and the last line shows that.
    pub log: usize,
}

impl Default for GuestLimits {
    /// One second of processor time, 8 MiB of memory, and 1 MiB of JSON in each direction.
    fn default() -> GuestLimits {
        GuestLimits {
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

/// A time limit for messages, without the digits below a millisecond: callers often pass the rest
/// of a longer deadline, such as 994.607198 ms.
pub(crate) fn whole_milliseconds(limit: Duration) -> Duration {
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
            assert_eq!(count_parts(json.as_bytes()), expected, "{json}");
        }
    }
}
