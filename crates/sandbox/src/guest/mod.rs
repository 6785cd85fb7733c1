//! The inside of a worker: compiles and runs programs, one after the other, each in a JavaScript
//! runtime of its own. No state of one call is left in the next.
//!
//! ```text
//!   Run request ─▶ globals, host functions, input ─▶ prelude ─▶ program ─▶ entry point
//!                                                                             │ call
//!   Done or Failed ◀─ JSON ◀─ await the promise (jobs, answers of the host) ◀─┘
//! ```
//!
//! Everything that a program controls may be hostile: a property may be a getter that never
//! returns, and any of its functions may have been replaced. So values are inspected through the
//! engine's own interface (`engine`), never by calling functions of the program.

mod call_state;
mod engine;
mod entry_point;
mod exception;
mod failure;
mod globals;
mod heap;
mod json_writer;
mod runtime;

use std::io;
use std::time::Duration;

use rquickjs_sys as qjs;

use crate::error::SandboxErrorCode;
use crate::limits::{MAX_BYTECODE, MAX_DEPTH, max_parts};
use crate::program::declared_names;
use crate::protocol::{FRAME_HEADER, FrameKind, FrameWriter, ONLY_REQUEST, invalid_data};
use crate::request::{CompileRequest, CompiledCode, RunRequest};
use call_state::{GuestCallState, HostReply};
pub(crate) use call_state::{LOG_CUT, LOG_LINE_COST, ParentChannel};
use engine::{JsContext, JsPromiseState, JsResult, JsValue, NulTerminated, PendingException};
use entry_point::GuestEntry;
pub(crate) use failure::GuestFailure;
use json_writer::{GuestJsonWriter, JsonWriteError};
use runtime::GuestRuntime;

/// Bytes of memory for the runtime itself and for compiled code, which do not count against the
/// limit of a guest.
const RUNTIME_MEMORY: usize = 16 << 20;
/// Bytes of memory that one byte of JSON may need once it is parsed: `{}` is an object.
const MEMORY_PER_INPUT_BYTE: usize = 64;
/// Promise jobs between two looks at the time: a job may be too short for the engine to look.
const JOBS_PER_TIME_CHECK: u32 = 64;

/// Answers the requests of one parent.
pub(crate) struct GuestRunner {
    runtime: GuestRuntime,
    /// Bytes of stack that a guest may use at most: the system kills a process that uses more than
    /// it has.
    max_stack: usize,
}

impl GuestRunner {
    /// Reserves the memory and makes the runtime for the first call.
    pub(crate) fn new(max_stack: usize) -> io::Result<GuestRunner> {
        Ok(GuestRunner { runtime: GuestRuntime::new()?, max_stack })
    }

    /// Answers one request. Returns whether it was the only one in the parent's pool. An error
    /// means that the parent is gone or broke the protocol, so that no answer can be sent.
    pub(crate) fn answer_request(&mut self, channel: &mut dyn ParentChannel) -> io::Result<bool> {
        let (kind, frame) = channel.receive()?;
        let body = &frame[FRAME_HEADER..];
        // The clock starts when the whole request is there: its transfer is not the guest's time.
        let started = call_state::worker_cpu_time();
        let answer = match kind {
            FrameKind::Run => self.run(channel, &RunRequest::decode(body)?, started)?,
            FrameKind::Compile => self.compile(channel, &CompileRequest::decode(body)?, started)?,
            _ => return Err(invalid_data("a request of an unknown kind")),
        };
        // Clearing takes longer the more memory the guest used, so it comes before the answer:
        // later it would run on the clock of the next call. Making a runtime always takes the
        // same, so it is done while the parent reads the answer.
        self.runtime.clear();
        channel.send(&answer)?;
        self.runtime.renew();
        Ok(frame.last() == Some(&ONLY_REQUEST))
    }

    /// Runs a program and returns the answer.
    fn run(
        &mut self,
        channel: &mut dyn ParentChannel,
        request: &RunRequest,
        started: Duration,
    ) -> io::Result<Vec<u8>> {
        let heap = self.runtime.heap();
        // SAFETY: the heap lives as long as the runtime, which outlives `state`.
        let state = unsafe {
            GuestCallState::new(
                channel,
                request.number,
                heap,
                started,
                request.cpu,
                request.output,
                request.log,
            )
        };
        let mut memory = 0;
        let result = self.runtime.enter(&state, request.stack.min(self.max_stack), |js| {
            // SAFETY: the engine does not run at the places where this is called, so the heap is
            // not in use.
            let set_limit = |limit| unsafe { (*heap).set_limit(limit) };
            set_limit(RUNTIME_MEMORY + MEMORY_PER_INPUT_BYTE * request.input_length());
            state.is_loading.set(true);
            // Nothing that is loaded contains cycles, so a collection would find nothing.
            js.set_collection_threshold(usize::MAX);
            let loaded = state.save_builtins(js).and_then(|()| load_input(js, request));
            let (module, args) =
                loaded.map_err(|PendingException| exception::take_failure(js, &state))?;
            state.is_loading.set(false);
            // The limit of the guest begins where its input ends.
            let before = state.heap().live();
            set_limit(before + request.memory);
            // Garbage in cycles counts against the limit until it is collected. So the first
            // collection comes early, and none is put off beyond three quarters of the limit.
            js.set_collection_threshold(before + request.memory / 4);
            state.collect_before.set(before + request.memory / 4 * 3);
            let result = call_program(js, &state, request, module, args);
            memory = state.heap().peak() - before;
            // A program whose time is up has no result, even if it caught the exception.
            match (exception::timeout_failure(&state), result) {
                (Some(timeout), Err(failure)) if failure.code == timeout.code => Err(failure),
                (Some(timeout), _) => Err(timeout),
                (None, result) => result,
            }
        });
        if let Some(error) = state.channel_error.borrow_mut().take() {
            return Err(error);
        }
        answer_frame(request.number, FrameKind::Done, result, state.cpu(), memory)
    }

    /// Compiles source text and returns the answer.
    fn compile(
        &mut self,
        channel: &mut dyn ParentChannel,
        request: &CompileRequest,
        started: Duration,
    ) -> io::Result<Vec<u8>> {
        let terminated = |text| {
            NulTerminated::new(text)
                .ok_or_else(|| invalid_data("the source text has no NUL behind it"))
        };
        let (prelude, source) = (terminated(request.prelude)?, terminated(request.source)?);
        let heap = self.runtime.heap();
        // SAFETY: as in `run`.
        let state = unsafe {
            GuestCallState::new(channel, request.number, heap, started, request.cpu, 0, 0)
        };
        let result = self.runtime.enter(&state, request.stack.min(self.max_stack), |js| {
            // SAFETY: the engine does not run here, so the heap is not in use.
            unsafe { (*heap).set_limit(RUNTIME_MEMORY + request.memory) };
            // Only positions in `program.js` are reported, so that an error of the prelude does
            // not point to a line of the program.
            let compile =
                |text, file, form| js.eval(text, file, form | qjs::JS_EVAL_FLAG_COMPILE_ONLY);
            let compile_both = || {
                let mut code = CompiledCode::default();
                if request.prelude.len() > 1 {
                    let prelude = compile(prelude, c"prelude.js", qjs::JS_EVAL_TYPE_GLOBAL)?;
                    code.prelude = js.write_bytecode(&prelude)?;
                }
                let form = if request.is_module {
                    qjs::JS_EVAL_TYPE_MODULE
                } else {
                    qjs::JS_EVAL_TYPE_GLOBAL
                };
                let program = compile(source, c"program.js", form)?;
                code.bytecode = js.write_bytecode(&program)?;
                // Resolving now reports an import as an error of the source text.
                if request.is_module {
                    js.resolve_module(&program)?;
                }
                Ok(code)
            };
            let mut code = compile_both().map_err(|PendingException| {
                let mut failure = exception::take_failure(js, &state);
                if failure.code == SandboxErrorCode::Threw {
                    failure.code = SandboxErrorCode::Syntax;
                }
                failure
            })?;
            // Every function carries its own source text, so nested ones multiply it.
            match code.bytecode.len() {
                ..=MAX_BYTECODE => {
                    // Here and not in the parent, because it takes time in proportion to the text.
                    code.prelude_names = names_of(request.prelude);
                    if !request.is_module {
                        code.names = names_of(request.source);
                    }
                    Ok(code.encode())
                }
                length => Err(GuestFailure::new(
                    SandboxErrorCode::InputTooLarge,
                    format!(
                        "the program has {length} bytes when compiled, \
                         more than the {MAX_BYTECODE} allowed"
                    ),
                )),
            }
        });
        answer_frame(request.number, FrameKind::Compiled, result, state.cpu(), 0)
    }
}

/// The names that a source text may declare. The text was compiled, so it is UTF-8.
fn names_of(source: &[u8]) -> Vec<String> {
    std::str::from_utf8(source).map(declared_names).unwrap_or_default()
}

/// The last frame of a request: the result as a frame of kind `success`, or the failure.
fn answer_frame(
    number: u64,
    success: FrameKind,
    result: Result<Vec<u8>, GuestFailure>,
    cpu: Duration,
    memory: usize,
) -> io::Result<Vec<u8>> {
    let (kind, body) = match result {
        Ok(body) => (success, body),
        Err(failure) => (FrameKind::Failed, failure.to_json().to_string().into_bytes()),
    };
    let mut answer = FrameWriter::of_request(kind, number);
    answer.u64(cpu.as_nanos() as u64).u64(memory as u64).rest(&body);
    answer.finish()
}

/// Defines the globals of the sandbox, the host functions and the input. Returns the object
/// `module` and the argument of the entry point.
fn load_input<'r>(js: JsContext<'r>, request: &RunRequest) -> JsResult<(JsValue<'r>, JsValue<'r>)> {
    let module = globals::install(js)?;
    globals::install_host_functions(js, &request.host, request.is_synchronous)?;
    let parse = |json| js.parse_json(NulTerminated::new(json).ok_or(PendingException)?);
    let args = parse(request.args)?;
    // SAFETY: the value is live and of this runtime.
    let shared = || unsafe { js.share(args.raw()) };
    if args.is_object() && args.own_data(&js.atom("args")?)?.is_none() {
        // Published validators read `args.args.x` as well as `args.x`.
        args.define("args", shared(), globals::HIDDEN)?;
    }
    let global = js.global();
    global.define("args", shared(), globals::HIDDEN)?;
    for (name, json) in &request.globals {
        global.define(name, parse(json)?, globals::HIDDEN)?;
    }
    Ok((module, args))
}

/// Runs the prelude and the program, calls its entry point, and returns the result as JSON.
fn call_program<'r>(
    js: JsContext<'r>,
    state: &GuestCallState,
    request: &RunRequest,
    module: JsValue<'r>,
    args: JsValue<'r>,
) -> Result<Vec<u8>, GuestFailure> {
    let threw = |PendingException| exception::take_failure(js, state);
    if !request.prelude.is_empty() {
        // SAFETY: a `Program` holds only bytecode that a worker of the same version wrote.
        unsafe { js.read_bytecode(request.prelude) }
            .and_then(|prelude| js.run(prelude))
            .map_err(threw)?;
    }
    // SAFETY: as for the prelude.
    let program = unsafe { js.read_bytecode(request.bytecode) }.map_err(threw)?;
    let entry = if request.is_module {
        js.resolve_module(&program).map_err(threw)?;
        // SAFETY: the value is live and of this runtime, which keeps modules until it ends.
        let kept = unsafe { js.share(program.raw()) };
        let evaluated = js.run(program).map_err(threw)?;
        // Top-level `await`.
        await_promise(js, state, evaluated)?;
        kept.module_namespace().and_then(|namespace| entry_point::of_module(&namespace))
    } else {
        let value = js.run(program).map_err(threw)?;
        // Functions of the prelude are visible to the program, but are not its entry point.
        let names: Vec<&str> = request
            .names
            .iter()
            .copied()
            .filter(|name| !request.prelude_names.contains(name))
            .collect();
        entry_point::of_script(&module, value, request.entry, &names)
    };
    let value = match entry.map_err(threw)?? {
        GuestEntry::Call(function) => {
            let result = function.call(&js.undefined(), &[&args]);
            result.map_err(|pending| name_uncallable_class(threw(pending)))?
        }
        GuestEntry::Result(value) => value,
    };
    let value = await_promise(js, state, value)?;
    let written = GuestJsonWriter::write(&value, request.output, MAX_DEPTH, state);
    written.map_err(|error| match error {
        JsonWriteError::Threw => threw(PendingException),
        error => result_failure(&error, request.output),
    })
}

/// Replaces the engine's message if the entry point is a class. The engine does not say beforehand
/// whether a function is a class; a trace of one function shows that the call itself failed and
/// not a call inside of the program.
fn name_uncallable_class(failure: GuestFailure) -> GuestFailure {
    let is_class = failure.message == "class constructors must be invoked with 'new'";
    if !is_class || failure.trace.len() > 1 {
        return failure;
    }
    let message = "the entry point is a class, which can only be called with `new`";
    GuestFailure {
        trace: failure.trace,
        ..GuestFailure::new(SandboxErrorCode::NoEntryPoint, message)
    }
}

/// The failure for a result that could not be written.
fn result_failure(error: &JsonWriteError, cap: usize) -> GuestFailure {
    let too_large = |message| GuestFailure::new(SandboxErrorCode::OutputTooLarge, message);
    match error {
        JsonWriteError::NotJson { what, path } => {
            let message = JsonWriteError::message_for_result(what, path);
            GuestFailure::new(SandboxErrorCode::NotJson, message)
        }
        JsonWriteError::TooLarge => {
            too_large(format!("the result is larger than the {cap} bytes that are allowed"))
        }
        JsonWriteError::TooManyParts => too_large(format!(
            "the result has more than the {} parts that are allowed: \
             a list or an object counts as 4, a comma or a colon as 1",
            max_parts(cap)
        )),
        // `run` replaces this message by one with the limit.
        JsonWriteError::TimeUp | JsonWriteError::Threw => {
            GuestFailure::new(SandboxErrorCode::Timeout, "the program used up its time")
        }
    }
}

/// Does what `await` does: runs promise jobs, and waits for the host, until a promise is settled.
/// An object with a function `then` is asked for its value in the same way. Any other value is
/// returned as it is.
fn await_promise<'r>(
    js: JsContext<'r>,
    state: &GuestCallState,
    mut value: JsValue<'r>,
) -> Result<JsValue<'r>, GuestFailure> {
    let threw = |PendingException| exception::take_failure(js, state);
    let may_be_thenable = value.is_object() && value.promise_state().is_none();
    if may_be_thenable && value.has("then").map_err(threw)? {
        // Resolving a promise reads `then`, once, as the language has it.
        let promise = js.promise().and_then(|(promise, resolve, _)| {
            resolve.call(&js.undefined(), &[&value])?;
            Ok(promise)
        });
        value = promise.map_err(threw)?;
    }
    let mut jobs = 0u32;
    loop {
        match value.promise_state() {
            None => return Ok(value),
            Some(JsPromiseState::Fulfilled(value)) => return Ok(value),
            Some(JsPromiseState::Rejected(reason)) => {
                return Err(exception::failure_of(Some(reason), state));
            }
            Some(JsPromiseState::Pending) => {}
        }
        jobs = jobs.wrapping_add(1);
        if jobs.is_multiple_of(JOBS_PER_TIME_CHECK) && state.must_stop() {
            return Err(exception::failure_of(None, state));
        }
        if js.is_job_pending() {
            js.run_one_job().map_err(threw)?;
        } else if state.awaits_host() {
            // Only when no job is left: the parent stops the clocks meanwhile.
            receive_host_reply(js, state)?;
        } else {
            return Err(GuestFailure::new(
                SandboxErrorCode::NotJson,
                "the result is a promise that nothing will ever settle",
            ));
        }
    }
}

/// Waits for the answer of a host function and settles its promise.
fn receive_host_reply(js: JsContext, state: &GuestCallState) -> Result<(), GuestFailure> {
    let reply = state.next_host_reply().map_err(|error| {
        // `run` returns this error instead of an answer, so the failure is not sent.
        *state.channel_error.borrow_mut() = Some(error);
        GuestFailure::new(SandboxErrorCode::WorkerDied, "the parent is gone")
    })?;
    let settled = (|| {
        let Some((resolve, reject)) = state.take_host_promise(js, reply.id) else { return Ok(()) };
        let function = if reply.is_ok { resolve } else { reject };
        function.call(&js.undefined(), &[&reply_value(js, &reply)?]).map(drop)
    })();
    settled.map_err(|PendingException| exception::take_failure(js, state))
}

/// What a host function answered: its value, or the `Error` that it failed with.
fn reply_value<'r>(js: JsContext<'r>, reply: &HostReply) -> JsResult<JsValue<'r>> {
    let value = js.parse_json(NulTerminated::new(&reply.json).ok_or(PendingException)?)?;
    if reply.is_ok { Ok(value) } else { error_object(js, value) }
}

/// An `Error` with the properties of `fields`, which a host function failed with.
fn error_object<'r>(js: JsContext<'r>, fields: JsValue<'r>) -> JsResult<JsValue<'r>> {
    let error = js.error()?;
    let names = fields.property_names()?;
    for index in 0..names.len() {
        let name = names.at(index);
        let text = name.text()?;
        // As with errors of the language: the message cannot be enumerated, the rest can.
        let flags = if text == "message" {
            globals::HIDDEN
        } else {
            globals::HIDDEN | qjs::JS_PROP_ENUMERABLE
        };
        error.define(&text, fields.get(&name)?, flags)?;
    }
    Ok(error)
}
