//! The bodies of the two requests, `Run` and `Compile`: written by the parent, read by the worker.
//! Both directions are in this file so that the order of the fields is visible in one place. A
//! change here needs another [`protocol::VERSION`](crate::protocol::VERSION).

use std::io;
use std::time::Duration;

use crate::error::{SandboxError, SandboxErrorCode};
use crate::limits::MAX_DEPTH;
use crate::program_io::ProgramInput;
use crate::protocol::{FrameKind, FrameReader, FrameWriter};
use crate::{GuestLimits, Json, Program, ProgramForm};

/// The most memory that a guest gets, whatever its caller allows: the address space of a worker
/// has to hold it beside the engine's region.
const MAX_MEMORY: usize = 256 << 20;
/// The stack that a guest gets, whatever its caller sets. With less than the first the engine
/// cannot run anything; the second is what a worker reserves.
const STACK: std::ops::RangeInclusive<usize> = 64 << 10..=4 << 20;

/// The file name of a source text in stack traces. Only positions in the program are reported, so
/// that an error of the prelude does not point to a line of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceRole {
    Program = 0,
    Prelude = 1,
}

/// A `Run` request as the worker reads it. It borrows from the frame: copying a megabyte of input
/// would be a measurable part of a small call.
pub(crate) struct RunRequest<'a> {
    /// The limits of the call, in the units of [`GuestLimits`]. The wall clock is the parent's
    /// business, and so is the limit of the input.
    pub(crate) cpu: Duration,
    pub(crate) memory: usize,
    pub(crate) stack: usize,
    pub(crate) output: usize,
    pub(crate) log: usize,
    pub(crate) is_module: bool,
    /// The function to call if the script exports several; may be empty.
    pub(crate) entry: &'a str,
    pub(crate) bytecode: &'a [u8],
    /// Candidates for functions that the script declares.
    pub(crate) names: Vec<&'a str>,
    /// Bytecode that runs first; empty if there is none.
    pub(crate) prelude: &'a [u8],
    /// Names that the prelude declares: they are not the program's.
    pub(crate) prelude_names: Vec<&'a str>,
    /// JSON with a NUL behind it, as are the values of `globals`.
    pub(crate) args: &'a [u8],
    pub(crate) globals: Vec<(&'a str, &'a [u8])>,
    /// The names of host functions; a call refers to them by index.
    pub(crate) host: Vec<&'a str>,
}

impl<'a> RunRequest<'a> {
    /// Reads the body of the frame. Fails if it is too short; the bytes behind it are the last byte
    /// of the request.
    pub(crate) fn decode(body: &'a [u8]) -> io::Result<RunRequest<'a>> {
        let body = &mut FrameReader(body);
        // The fields of a struct expression are evaluated in the order they are written in.
        Ok(RunRequest {
            cpu: Duration::from_nanos(body.u64()?),
            memory: body.u64()? as usize,
            stack: body.u64()? as usize,
            output: body.u64()? as usize,
            log: body.u64()? as usize,
            is_module: body.u8()? == 1,
            entry: body.text()?,
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

    /// Bytes of JSON that the call brings in.
    pub(crate) fn input_length(&self) -> usize {
        self.args.len() + self.globals.iter().map(|(_, json)| json.len()).sum::<usize>()
    }
}

/// A `Run` request, without the last byte ([`ONLY_REQUEST`](crate::protocol::ONLY_REQUEST) or 0).
/// Fails if the input is larger or deeper than `limits` allow.
pub(crate) fn encode_run(
    program: &Program,
    input: &ProgramInput,
    limits: &GuestLimits,
    host: &[String],
) -> Result<FrameWriter, SandboxError> {
    let program = &*program.0;
    let mut frame = FrameWriter::new(FrameKind::Run);
    frame.u64(limits.cpu.as_nanos() as u64);
    frame.u64(limits.memory.min(MAX_MEMORY) as u64);
    frame.u64(limits.stack.clamp(*STACK.start(), *STACK.end()) as u64);
    frame.u64(limits.output as u64).u64(limits.log as u64);
    frame.u8(u8::from(program.form == ProgramForm::Module)).bytes(program.entry.as_bytes());
    frame.bytes(&program.bytecode).list(&program.names);
    match &input.prelude {
        Some(prelude) => frame.bytes(&prelude.0.bytecode).list(&prelude.0.names),
        None => frame.bytes(&[]).list::<&str>(&[]),
    };
    frame.list(host);
    // The limit is for the sum of all values.
    let mut bytes_left = limits.input;
    put_json(&mut frame, &input.args, &mut bytes_left, limits)?;
    // `data` is a global like any other; one of that name in `globals` overwrites it.
    let data = input.data.iter().map(|data| ("data", data));
    let globals: Vec<(&str, &Json)> =
        data.chain(input.globals.iter().map(|(name, json)| (name.as_str(), json))).collect();
    frame.u32(globals.len() as u32);
    for (name, json) in globals {
        frame.bytes(name.as_bytes());
        put_json(&mut frame, json, &mut bytes_left, limits)?;
    }
    Ok(frame)
}

/// Appends one value of the input and subtracts its length from `bytes_left`.
fn put_json(
    frame: &mut FrameWriter,
    json: &Json,
    bytes_left: &mut usize,
    limits: &GuestLimits,
) -> Result<(), SandboxError> {
    let too_large = |message: String| SandboxError::new(SandboxErrorCode::InputTooLarge, message);
    // Before it is serialized, which recurses.
    if !is_at_most_deep(json, MAX_DEPTH) {
        return Err(too_large(format!("the input is nested deeper than {MAX_DEPTH} levels")));
    }
    let text = serde_json::to_vec(json).map_err(|error| too_large(error.to_string()))?;
    *bytes_left = bytes_left.checked_sub(text.len()).ok_or_else(|| {
        too_large(format!("the input is larger than the {} bytes that are allowed", limits.input))
    })?;
    frame.nul_terminated(&text);
    Ok(())
}

/// Whether a value is nested at most `depth` levels. Stops there, so it recurses no deeper.
pub(crate) fn is_at_most_deep(json: &Json, depth: usize) -> bool {
    match json {
        Json::Array(items) => {
            depth > 0 && items.iter().all(|item| is_at_most_deep(item, depth - 1))
        }
        Json::Object(members) => {
            depth > 0 && members.values().all(|member| is_at_most_deep(member, depth - 1))
        }
        _ => true,
    }
}

/// A `Compile` request as the worker reads it.
pub(crate) struct CompileRequest<'a> {
    pub(crate) cpu: Duration,
    pub(crate) memory: usize,
    pub(crate) stack: usize,
    pub(crate) is_module: bool,
    pub(crate) is_prelude: bool,
    /// The source text with a NUL behind it.
    pub(crate) source: &'a [u8],
}

impl<'a> CompileRequest<'a> {
    /// Reads the body of the frame. Fails if it is too short.
    pub(crate) fn decode(body: &'a [u8]) -> io::Result<CompileRequest<'a>> {
        let body = &mut FrameReader(body);
        Ok(CompileRequest {
            cpu: Duration::from_nanos(body.u64()?),
            memory: body.u64()? as usize,
            stack: body.u64()? as usize,
            is_module: body.u8()? == 1,
            is_prelude: body.u8()? == SourceRole::Prelude as u8,
            source: body.bytes()?,
        })
    }
}

/// A `Compile` request, without the last byte.
///
/// The length of the source text is checked by the caller, which reports it in other words.
pub(crate) fn encode_compile(
    source: &str,
    form: ProgramForm,
    role: SourceRole,
    limits: &GuestLimits,
) -> FrameWriter {
    let mut frame = FrameWriter::new(FrameKind::Compile);
    frame.u64(limits.cpu.as_nanos() as u64).u64(limits.memory as u64).u64(limits.stack as u64);
    frame.u8(u8::from(form == ProgramForm::Module)).u8(role as u8);
    frame.nul_terminated(source.as_bytes());
    frame
}
