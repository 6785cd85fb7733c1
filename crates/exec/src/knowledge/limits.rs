//! From the configured limits of functions to the limits of one run in the sandbox.

use std::time::Duration;

use toolwright_model::FunctionLimits;
use toolwright_sandbox::GuestLimits;

use super::FunctionRole;

/// Bytes that may go into a function even where the limit of its result is small: a validator with
/// a result of a few bytes must still be able to look at a large document.
const MIN_INPUT: usize = 4 << 20;

/// The limits of one run of a function with this role.
pub fn guest_limits(limits: &FunctionLimits, role: FunctionRole) -> GuestLimits {
    let cpu = match role {
        FunctionRole::Validator => limits.validator,
        FunctionRole::Helper | FunctionRole::Processor | FunctionRole::Body => limits.function,
    };
    let memory = if role == FunctionRole::Body { limits.body_memory } else { limits.memory };
    // The clock runs on while other processes have the processor. Ten times the processor time and
    // five seconds are enough that a busy machine does not fail a good function.
    let wall = cpu * 10 + Duration::from_secs(5);
    let input = (4 * limits.output).max(MIN_INPUT);
    GuestLimits { cpu, wall, memory, input, output: limits.output, ..GuestLimits::default() }
}
