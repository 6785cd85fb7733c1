//! The stable codes of a call that did not succeed.
//!
//! Programs decide by these names and numbers what to do next, so a code is never renamed and its
//! number never used again. A test compares this table with the one in `docs/calling.md`.
//!
//! A code says who can do something about the failure: the caller (`INPUT_INVALID`), the author of
//! the tool (`OUTPUT_INVALID`, `TOOL_FAILED`), the person who grants (`CAPABILITY_DENIED`), or the
//! machine (`SANDBOX_FAILED`, `SPAWN_FAILED`). Add one only if a program would act differently on
//! it.

/// Why a call did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub struct RunCode {
    /// `UPPER_SNAKE`, stable across versions.
    pub name: &'static str,
    /// The JSON-RPC error number. Unique.
    pub number: i32,
    /// One or two sentences for the manual.
    pub meaning: &'static str,
    /// What the caller can do, unless the failure has a more specific suggestion.
    pub suggestion: &'static str,
}

/// Declares one static per code, and `ALL` with every one of them, so that none can be left out.
macro_rules! codes {
    ($($name:ident $number:literal $meaning:literal $suggestion:literal)*) => {
        $(
            #[doc = $meaning]
            pub static $name: RunCode = RunCode {
                name: stringify!($name),
                number: $number,
                meaning: $meaning,
                suggestion: $suggestion,
            };
        )*
        /// All codes, in the order of the manual.
        pub static ALL: &[&RunCode] = &[$(&$name),*];
    };
}

// The BTCP seed prescribes the numbers -32000 to -32004 for a tool that is not found, a missing
// capability, a time-out, a failure of the sandbox, and arguments that break the schema. Ours start
// at -32010, within the range that JSON-RPC leaves to servers.
codes! {
    TOOL_NOT_FOUND -32000
        "No tool has this id."
        "list the tools and use an id from there"
    CAPABILITY_DENIED -32001
        "The tool needs something that no person has granted to the agent that calls."
        "ask a person to allow it; `toolwright grants` lists and changes what is allowed"
    TIMEOUT -32002
        "The call took longer than its time limit and was stopped."
        "ask for less at once, or allow more time"
    INPUT_INVALID -32004
        "The arguments do not match the tool's input schema."
        "correct the arguments that are named and call again"
    VALIDATION_FAILED -32022
        "A validator of the definition rejected the arguments, or could not check them."
        "correct what the errors name and call again"
    OUTPUT_INVALID -32010
        "The tool's answer is not JSON, or does not match its output schema."
        "the tool is at fault: calling it again the same way will not help"
    OUTPUT_TOO_LARGE -32011
        "The answer is larger than allowed. It is refused as a whole, never cut."
        "ask for less, or raise `output` under `[limits]`"
    CANCELLED -32012
        "The caller cancelled the call, and it was stopped."
        "call again if the result is still wanted"
    BUSY -32013
        "Too many calls of this toolset are waiting, or the agent has too many calls."
        "wait for running calls to end, then call again"
    TOOL_FAILED -32014
        "The tool ran and failed."
        "read the message: it is the tool's own"
    SPAWN_FAILED -32015
        "The tool's program could not be started, or something that it needs is not installed."
        "check that the program exists and may be executed"
    SANDBOX_FAILED -32003
        "The tool's code could not be run: no worker could be started, or it died."
        "run `toolwright doctor` and fix what it reports"
    UPSTREAM_UNAVAILABLE -32016
        "The tool's server could not be reached, or the connection was lost during the call."
        "check that the server runs, then call again"
    QUARANTINED -32017
        "The tool's definition has errors, so it is not run."
        "fix the named error; `toolwright check` shows its place"
    NOT_RUNNABLE -32018
        "The definition does not say how to run the tool, or no executor here can run it that way."
        "give the tool an executable or a server"
    BROWSER_REQUIRED -32019
        "The tool's capabilities need a page in a browser, and there is none here."
        "use the tool where its page is open"
    PAGE_LOST -32030
        "The page crashed, was closed or went to another address while the tool ran."
        "look at the page that is open now, and call again if the tool is meant for it"
    PROCESSOR_FAILED -32020
        "A processor of the definition failed on the arguments or the result."
        "the definition is at fault: calling it again the same way will not help"
    PAYLOAD_UNKNOWN -32021
        "The answer matches none of the shapes that the definition describes, or lacks the data."
        "the definition or its service has changed: compare the answer with `payload_schemas`"
    CALL_LIMIT -32025
        "A tool that calls other tools made too many calls, or calls were nested too deeply."
        "the definition is at fault: let it call fewer tools, or split the work"
    AUDIT_UNAVAILABLE -32023
        "The call cannot be recorded, so it is not made, or its result is withheld."
        "look at the store with `toolwright audit`, or set `required = false` under `[audit]`"
}
