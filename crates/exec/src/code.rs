//! The stable codes of a call that did not succeed. `docs/calling.md` is held against this table.

/// Why a call did not succeed, under the name that programs rely on.
#[derive(Debug, PartialEq, Eq)]
pub struct RunCode {
    /// `UPPER_SNAKE`, stable across versions.
    pub name: &'static str,
    /// The error's number on JSON-RPC.
    pub number: i32,
    /// What it means.
    pub meaning: &'static str,
    /// What the caller can do, unless the failure knows better.
    pub suggestion: &'static str,
}

macro_rules! codes {
    ($($name:ident $number:literal $meaning:literal $suggestion:literal)*) => {
        $(
            #[doc = $meaning]
            pub static $name: RunCode = RunCode {
                name: stringify!($name), number: $number, meaning: $meaning, suggestion: $suggestion,
            };
        )*
        /// All of them, in the order of the documentation.
        pub static ALL: &[&RunCode] = &[$(&$name),*];
    };
}

// -32000 to -32004 are the BTCP seed's: not found, capability, time-out, sandbox, validation
// against a schema.
codes! {
    TOOL_NOT_FOUND -32000 "No tool has this id." "list the tools and use an id from there"
    TIMEOUT -32002 "The call took longer than it may. Its work was ended." "ask for less at once, or allow more time"
    INPUT_INVALID -32004 "The arguments do not match the tool's input schema." "correct the arguments that are named and call again"
    VALIDATION_FAILED -32022 "A validator of the definition refuses the arguments, or could not judge them." "correct what the errors name and call again"
    OUTPUT_INVALID -32010 "What the tool answered is not JSON, or does not match its output schema." "the tool is at fault: calling it again the same way will not help"
    OUTPUT_TOO_LARGE -32011 "The answer is larger than allowed. It is refused as a whole, never cut." "ask for less, or raise `output` under `[limits]`"
    CANCELLED -32012 "The caller cancelled the call. Its work was ended." "call again if the result is still wanted"
    BUSY -32013 "Too many calls of this toolset are waiting already." "wait for running calls to end, then call again"
    TOOL_FAILED -32014 "The tool ran and failed." "read the message: it is the tool's own"
    SPAWN_FAILED -32015 "The tool's program could not be started." "check that the program exists and may be executed"
    SANDBOX_FAILED -32003 "The tool's code could not be run: no worker could be started, or it died." "run `toolwright doctor` and mend what it reports"
    UPSTREAM_UNAVAILABLE -32016 "The tool's server could not be reached, or went away during the call." "check that the server runs; it is tried again after a pause"
    QUARANTINED -32017 "The tool's definition has errors, so it is set aside and not run." "mend what is named; the log and `toolwright show` say where it stands"
    NOT_RUNNABLE -32018 "The definition does not say how the tool is run, or nothing here can run it that way." "give the tool an executable or a server"
    BROWSER_REQUIRED -32019 "The tool's capabilities need a page in a browser, and there is none here." "use the tool where its page is open"
    PROCESSOR_FAILED -32020 "A processor of the definition failed on the arguments or the result." "the definition is at fault: calling it again the same way will not help"
    PAYLOAD_UNKNOWN -32021 "The answer has none of the shapes that the definition knows, or the data is missing in it." "the definition or the service behind it has changed: compare the answer with `payload_schemas`"
}
