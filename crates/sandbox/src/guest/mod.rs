//! The inside of a worker: takes programs and runs them, one after the other, each in a realm of
//! its own. Nothing of one call is there in the next.

mod entry;
mod failure;
mod heap;
mod js;
mod json;
mod realm;
mod state;
mod thrown;

use std::io;
use std::time::Duration;

use rquickjs_sys as qjs;

use crate::error::Code;
use crate::limits::{BYTECODE, MAX_DEPTH, max_parts};
use crate::wire::{self, Body, Frame, HEAD, Kind, bad};
use entry::Entry;
pub(crate) use failure::Failure;
use js::{Js, Outcome, Pending, PromiseState, Terminated, Value};
use json::{Unwritten, Writer};
use realm::Fresh;
use state::State;
pub(crate) use state::{CUT, Link};

/// Room for a realm and for what the input becomes in it, per byte of input.
const ROOM: usize = 16 << 20;
const ROOM_PER_BYTE: usize = 64;

/// Serves one parent until it is gone.
pub(crate) struct Guest {
    realm: Fresh,
    /// No call may use more of the stack: the system would kill it.
    most_stack: usize,
}

/// What a parent asks for, as it lies in the frame.
struct Request<'a> {
    cpu: Duration,
    memory: usize,
    stack: usize,
    output: usize,
    log: usize,
    is_module: bool,
    wanted: &'a str,
    bytecode: &'a [u8],
    names: Vec<&'a str>,
    prelude: &'a [u8],
    prelude_names: Vec<&'a str>,
    args: &'a [u8],
    globals: Vec<(&'a str, &'a [u8])>,
    host: Vec<&'a str>,
}

impl Guest {
    pub(crate) fn new(most_stack: usize) -> io::Result<Guest> {
        Ok(Guest { realm: Fresh::new()?, most_stack })
    }

    /// Answers one request, and says whether it was the parent's only one. An error means that
    /// there is nobody to answer to.
    pub(crate) fn answer(&mut self, link: &mut dyn Link) -> io::Result<bool> {
        let (kind, frame) = link.receive()?;
        let body = &frame[HEAD..];
        let started = state::cpu_time();
        let reply = match kind {
            Kind::Run => self.run(link, &Request::read(body)?, started)?,
            Kind::Compile => self.compile(link, &mut Body(body), started)?,
            _ => return Err(bad("a request of an unknown kind")),
        };
        self.realm.clear();
        link.send(&reply)?;
        self.realm.renew();
        Ok(frame.last() == Some(&wire::ALONE))
    }

    fn run(
        &mut self,
        link: &mut dyn Link,
        request: &Request,
        started: Duration,
    ) -> io::Result<Vec<u8>> {
        let heap = self.realm.heap();
        // SAFETY: the heap is boxed and ours; the state is gone before it is used again.
        let state =
            unsafe { State::new(link, heap, started, request.cpu, request.output, request.log) };
        let mut memory = 0;
        let result = self.realm.enter(&state, request.stack.min(self.most_stack), |js| {
            // SAFETY: the engine is not running.
            let load = |limit| unsafe { (*heap).set_limit(limit) };
            load(ROOM + ROOM_PER_BYTE * request.input());
            state.is_loading.set(true);
            // JSON has no cycles.
            js.collect_at(usize::MAX);
            let loaded = state.keep(js).and_then(|()| load_input(js, request));
            let Ok((module, args)) = loaded else {
                return Err(Failure::input_too_large());
            };
            state.is_loading.set(false);
            let before = state.heap().live();
            load(before + request.memory);
            js.collect_at(before + request.memory / 4);
            state.collect_at.set(before + request.memory / 4 * 3);
            let result = call(js, &state, request, module, args);
            memory = state.heap().peak() - before;
            // Whatever it came to: who used up time or memory has no result.
            match (thrown::over(&state), result) {
                (Some(over), Err(failure)) if failure.code == over.code => Err(failure),
                (Some(over), _) => Err(over),
                (None, result) => result,
            }
        });
        if let Some(error) = state.broken.borrow_mut().take() {
            return Err(error);
        }
        reply(Kind::Done, result, state.cpu(), memory)
    }

    fn compile(
        &mut self,
        link: &mut dyn Link,
        body: &mut Body,
        started: Duration,
    ) -> io::Result<Vec<u8>> {
        let cpu = Duration::from_nanos(body.u64()?);
        let (memory, stack) = (body.u64()? as usize, body.u64()? as usize);
        let (is_module, file) = (body.u8()? == 1, body.u8()?);
        let source = Terminated::new(body.bytes()?).ok_or_else(|| bad("source without its end"))?;
        let file = if file == 0 { c"program.js" } else { c"prelude.js" };
        let heap = self.realm.heap();
        // SAFETY: as in `run`.
        let state = unsafe { State::new(link, heap, started, cpu, 0, 0) };
        let result = self.realm.enter(&state, stack.min(self.most_stack), |js| {
            // SAFETY: the engine is not running.
            unsafe { (*heap).set_limit(ROOM + memory) };
            let form = if is_module { qjs::JS_EVAL_TYPE_MODULE } else { qjs::JS_EVAL_TYPE_GLOBAL };
            let compiled =
                js.eval(source, file, form | qjs::JS_EVAL_FLAG_COMPILE_ONLY).and_then(|program| {
                    let bytecode = js.write_bytecode(&program)?;
                    if is_module {
                        js.resolve_module(&program)?;
                    }
                    Ok(bytecode)
                });
            compiled.map_err(|Pending| {
                let mut failure = thrown::failure(js.take_exception(), &state);
                if failure.code == Code::Threw {
                    failure.code = Code::Syntax;
                }
                failure
            })
        });
        let result = result.map(|compiled| {
            compiled.and_then(|bytecode| match bytecode.len() {
                ..=BYTECODE => Ok(bytecode),
                length => Err(Failure::new(
                    Code::InputTooLarge,
                    format!("the program has {length} bytes when compiled, more than the {BYTECODE} allowed"),
                )),
            })
        });
        reply(Kind::Compiled, result, state.cpu(), 0)
    }
}

impl<'a> Request<'a> {
    fn read(body: &'a [u8]) -> io::Result<Request<'a>> {
        let body = &mut Body(body);
        Ok(Request {
            cpu: Duration::from_nanos(body.u64()?),
            memory: body.u64()? as usize,
            stack: body.u64()? as usize,
            output: body.u64()? as usize,
            log: body.u64()? as usize,
            is_module: body.u8()? == 1,
            wanted: body.text()?,
            bytecode: body.bytes()?,
            names: body.list()?,
            prelude: body.bytes()?,
            prelude_names: body.list()?,
            host: body.list()?,
            args: body.bytes()?,
            globals: {
                let count = body.u32()?;
                (0..count).map(|_| Ok((body.text()?, body.bytes()?))).collect::<io::Result<_>>()?
            },
        })
    }

    fn input(&self) -> usize {
        self.args.len() + self.globals.iter().map(|(_, json)| json.len()).sum::<usize>()
    }
}

/// What the parent is told: the result as a frame of kind `good`, or why there is none.
fn reply(
    good: Kind,
    result: Option<Result<Vec<u8>, Failure>>,
    cpu: Duration,
    memory: usize,
) -> io::Result<Vec<u8>> {
    let (kind, body) = match result {
        Some(Ok(body)) => (good, body),
        Some(Err(failure)) => (Kind::Failed, failure.to_json().to_string().into_bytes()),
        None => {
            let failure = Failure::new(Code::MemoryLimit, "there is no memory for a realm");
            (Kind::Failed, failure.to_json().to_string().into_bytes())
        }
    };
    let mut reply = Frame::new(kind);
    reply.u64(cpu.as_nanos() as u64).u64(memory as u64).rest(&body);
    reply.finish()
}

/// The realm's furniture and the input. Gives `module` and the argument.
fn load_input<'r>(js: Js<'r>, request: &Request) -> Outcome<(Value<'r>, Value<'r>)> {
    let module = realm::furnish(js)?;
    realm::lend_host_functions(js, &request.host)?;
    let parse = |json| js.parse_json(Terminated::new(json).ok_or(Pending)?);
    let args = parse(request.args)?;
    // SAFETY: the value is live and of this realm.
    let shared = || unsafe { js.share(args.raw()) };
    if args.is_object() && args.own_data(&js.atom("args")?)?.is_none() {
        // Validators in the wild read `args.args.x`.
        args.define("args", shared(), realm::HIDDEN)?;
    }
    let global = js.global();
    global.define("args", shared(), realm::HIDDEN)?;
    for (name, json) in &request.globals {
        global.define(name, parse(json)?, realm::HIDDEN)?;
    }
    Ok((module, args))
}

/// The call itself: the result as JSON.
fn call<'r>(
    js: Js<'r>,
    state: &State,
    request: &Request,
    module: Value<'r>,
    args: Value<'r>,
) -> Result<Vec<u8>, Failure> {
    let threw = |Pending| thrown::failure(js.take_exception(), state);
    if !request.prelude.is_empty() {
        // SAFETY: our own worker wrote it.
        unsafe { js.read_bytecode(request.prelude) }
            .and_then(|prelude| js.run(prelude))
            .map_err(threw)?;
    }
    // SAFETY: our own worker wrote it.
    let program = unsafe { js.read_bytecode(request.bytecode) }.map_err(threw)?;
    let entry = if request.is_module {
        js.resolve_module(&program).map_err(threw)?;
        // SAFETY: the value is live and of this realm, which keeps modules to its end.
        let kept = unsafe { js.share(program.raw()) };
        let evaluated = js.run(program).map_err(threw)?;
        settle(js, state, evaluated)?;
        kept.module_namespace().and_then(|namespace| entry::of_module(&namespace))
    } else {
        let value = js.run(program).map_err(threw)?;
        let names: Vec<&str> = request
            .names
            .iter()
            .copied()
            .filter(|name| !request.prelude_names.contains(name))
            .collect();
        entry::of_script(&module, value, request.wanted, &names)
    };
    let value = match entry.map_err(threw)?? {
        Entry::Call(function) => function.call(&js.undefined(), &[&args]).map_err(|pending| {
            let failure = threw(pending);
            let is_class = failure.message == "class constructors must be invoked with 'new'";
            if !is_class || failure.trace.len() > 1 {
                return failure;
            }
            let message = "what is to be called is a class, which only makes objects with `new`";
            Failure { trace: failure.trace, ..Failure::new(Code::NoEntryPoint, message) }
        })?,
        Entry::Result(value) => value,
    };
    let value = settle(js, state, value)?;
    Writer::write(&value, request.output, MAX_DEPTH, state).map_err(|unwritten| match unwritten {
        Unwritten::Threw => threw(Pending),
        Unwritten::NotJson { what, path } => Failure::new(Code::NotJson, Unwritten::sentence(&what, &path)),
        Unwritten::Late => Failure::new(Code::Timeout, "the program used up its time"),
        Unwritten::TooLarge => Failure::new(
            Code::OutputTooLarge,
            format!("the result is larger than the {} bytes that are allowed", request.output),
        ),
        Unwritten::TooManyParts => Failure::new(
            Code::OutputTooLarge,
            format!(
                "the result has more than the {} parts that are allowed: a list or an object counts as 4, a comma or a colon as 1",
                max_parts(request.output)
            ),
        ),
    })
}

/// Drives a promise to its end; every other value is its own end.
fn settle<'r>(js: Js<'r>, state: &State, value: Value<'r>) -> Result<Value<'r>, Failure> {
    let mut jobs = 0u32;
    loop {
        match value.promise_state() {
            None => return Ok(value),
            Some(PromiseState::Fulfilled(value)) => return Ok(value),
            Some(PromiseState::Rejected(reason)) => {
                return Err(thrown::failure(Some(reason), state));
            }
            Some(PromiseState::Pending) => {}
        }
        jobs = jobs.wrapping_add(1);
        if jobs.is_multiple_of(64) && state.is_over() {
            return Err(thrown::failure(None, state));
        }
        if js.is_job_pending() {
            js.run_one_job().map_err(|Pending| thrown::failure(js.take_exception(), state))?;
        } else if state.awaits_host() {
            hear_host(js, state)?;
        } else {
            return Err(Failure::new(
                Code::NotJson,
                "the result is a promise that nothing will ever settle",
            ));
        }
    }
}

/// Waits for a host function and settles its promise.
fn hear_host(js: Js, state: &State) -> Result<(), Failure> {
    let heard = state.wait().and_then(|(kind, frame)| {
        let mut body = Body(&frame[HEAD..]);
        if kind != Kind::HostReply {
            return Err(bad("something else than a host function's answer"));
        }
        Ok((body.u32()?, body.u8()? == 1, body.bytes()?.to_vec()))
    });
    let (id, is_ok, json) = heard.map_err(|error| {
        *state.broken.borrow_mut() = Some(error);
        Failure::new(Code::WorkerDied, "the host is gone")
    })?;
    let settled = (|| {
        let Some((resolve, reject)) = state.take_awaited(js, id) else { return Ok(()) };
        let value = js.parse_json(Terminated::new(&json).ok_or(Pending)?)?;
        let function = if is_ok { resolve } else { reject };
        let value = if is_ok { value } else { as_error(js, value)? };
        function.call(&js.undefined(), &[&value]).map(drop)
    })();
    settled.map_err(|Pending| thrown::failure(js.take_exception(), state))
}

/// What a host function failed with, as an `Error` that has its properties.
fn as_error<'r>(js: Js<'r>, told: Value<'r>) -> Outcome<Value<'r>> {
    let error = js.error()?;
    let names = told.names()?;
    for index in 0..names.len() {
        let name = names.at(index);
        let text = name.text()?;
        let flags =
            if text == "message" { realm::HIDDEN } else { realm::HIDDEN | qjs::JS_PROP_ENUMERABLE };
        error.define(&text, told.get(&name)?, flags)?;
    }
    Ok(error)
}
