//! What the functions of definitions may use. The configuration sets it; no definition can.

use std::time::Duration;

use toolwright_sandbox::Limits as GuestLimits;

use super::FunctionRole;

/// Bytes that may go into a function even where the limit of its result is small: a validator with
/// a result of a few bytes must still be able to look at a large document.
const MIN_INPUT: usize = 4 << 20;

/// The limits of functions, by role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionLimits {
    /// Processor time of a validator.
    pub validator: Duration,
    /// Processor time of a helper or a processor.
    pub function: Duration,
    /// Bytes of memory for helpers, processors and validators, beyond their input.
    pub memory: usize,
    /// Bytes of memory for the body of a tool, beyond its input. Its time is that of the call.
    pub body_memory: usize,
    /// Bytes of a result, as JSON. The input may be four times as large: a processor receives its
    /// data twice, as `args` and as `data`.
    pub output: usize,
}

impl Default for FunctionLimits {
    // aios seed, Executable Knowledge: 1000 ms, validators 500 ms, 8 MB.
    fn default() -> FunctionLimits {
        FunctionLimits {
            validator: Duration::from_millis(500),
            function: Duration::from_millis(1_000),
            memory: 8 << 20,
            body_memory: 64 << 20,
            output: 1 << 20,
        }
    }
}

impl FunctionLimits {
    /// The limits of one run of a function with this role.
    pub fn of(&self, role: FunctionRole) -> GuestLimits {
        let cpu = match role {
            FunctionRole::Validator => self.validator,
            FunctionRole::Helper | FunctionRole::Processor | FunctionRole::Body => self.function,
        };
        let memory = if role == FunctionRole::Body { self.body_memory } else { self.memory };
        // The clock runs on while other processes have the processor. Ten times the processor time
        // and five seconds are enough that a busy machine does not fail a good function.
        let wall = cpu * 10 + Duration::from_secs(5);
        let input = (4 * self.output).max(MIN_INPUT);
        GuestLimits { cpu, wall, memory, input, output: self.output, ..GuestLimits::default() }
    }
}
