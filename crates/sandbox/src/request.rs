//! The bodies of the two requests, `Run` and `Compile`, written by the parent and read by the
//! worker, and of the answer `Compiled`, written by the worker and read by the parent. Both
//! directions are in this file so that the order of the fields is visible in one place. A change
//! here needs another [`protocol::VERSION`](crate::protocol::VERSION).

use std::io;
use std::time::Duration;

use crate::error::{SandboxError, SandboxErrorCode};
use crate::host_functions::HostFunctions;
use crate::limits::{MAX_BYTECODE, MAX_DEPTH};
use crate::program_io::ProgramInput;
use crate::protocol::{FrameKind, FrameReader, FrameWriter};
use crate::{GuestLimits, Json, Program, ProgramForm};

/// The most memory that a guest gets, whatever its caller allows: the address space of a worker
/// has to hold it beside the engine's region.
pub(crate) const MAX_MEMORY: usize = 256 << 20;
/// Bytes of input that are written without leaving the async thread.
const MAX_WRITTEN_INLINE: usize = 32 << 10;
/// The stack that a guest gets, whatever its caller sets. With less than the first the engine
/// cannot run anything; the second is what a worker reserves.
const STACK: std::ops::RangeInclusive<usize> = 64 << 10..=4 << 20;

/// A `Run` request as the worker reads it. It borrows from the frame: copying a megabyte of input
/// would be a measurable part of a small call.
pub(crate) struct RunRequest<'a> {
    /// The number that every frame about this request carries.
    pub(crate) number: u64,
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
    /// For each of them, 1 if it returns its answer instead of a promise.
    pub(crate) is_synchronous: &'a [u8],
}

impl<'a> RunRequest<'a> {
    /// Reads the body of the frame. Fails if it is too short; the bytes behind it are the last byte
    /// of the request.
    pub(crate) fn decode(body: &'a [u8]) -> io::Result<RunRequest<'a>> {
        let body = &mut FrameReader(body);
        // The fields of a struct expression are evaluated in the order they are written in.
        Ok(RunRequest {
            number: body.u64()?,
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
            is_synchronous: body.bytes()?,
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

/// The names of host functions, as a request carries them.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostNames {
    pub(crate) names: Vec<String>,
    /// For each of them, 1 if it returns its answer instead of a promise.
    is_synchronous: Vec<u8>,
}

impl HostNames {
    pub(crate) fn of(host: &dyn HostFunctions) -> HostNames {
        let names = host.names();
        let is_synchronous = names.iter().map(|name| u8::from(host.is_synchronous(name))).collect();
        HostNames { names, is_synchronous }
    }
}

/// A `Run` request, without the last byte ([`ONLY_REQUEST`](crate::protocol::ONLY_REQUEST) or 0).
/// Fails if the input is larger or deeper than `limits` allow.
pub(crate) fn encode_run(
    number: u64,
    program: &Program,
    input: &ProgramInput,
    limits: &GuestLimits,
    host: &HostNames,
) -> Result<FrameWriter, SandboxError> {
    let program = &*program.0;
    let mut frame = FrameWriter::of_request(FrameKind::Run, number);
    frame.u64(limits.cpu.as_nanos() as u64);
    frame.u64(limits.memory.min(MAX_MEMORY) as u64);
    frame.u64(limits.stack.clamp(*STACK.start(), *STACK.end()) as u64);
    frame.u64(limits.output as u64).u64(limits.log as u64);
    frame.u8(u8::from(program.form == ProgramForm::Module)).bytes(program.entry.as_bytes());
    let code = &program.code;
    frame.bytes(&code.bytecode).list(&code.names);
    frame.bytes(&code.prelude).list(&code.prelude_names);
    frame.list(&host.names).bytes(&host.is_synchronous);
    // The limit is for the sum of all values.
    let mut bytes_left = limits.input;
    put_json(&mut frame, &input.args, &mut bytes_left, limits)?;
    // `data` is a global like any other; one of that name in `globals` overwrites it.
    let data = input.data.iter().map(|data| ("data", &**data));
    let globals: Vec<(&str, &Json)> =
        data.chain(input.globals.iter().map(|(name, json)| (name.as_str(), &**json))).collect();
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

/// Whether the input is so large that writing it as JSON may take longer than a millisecond.
/// Looks no further than that.
pub(crate) fn is_large(input: &ProgramInput) -> bool {
    /// Subtracts what a value costs from the bytes that are left. False once nothing is left.
    fn fits(json: &Json, left: &mut usize) -> bool {
        // Every value takes time, also one that is short as text.
        let own = 8 + if let Json::String(text) = json { text.len() } else { 0 };
        let Some(rest) = left.checked_sub(own) else { return false };
        *left = rest;
        match json {
            Json::Array(items) => items.iter().all(|item| fits(item, left)),
            Json::Object(members) => members.iter().all(|(name, member)| {
                *left = left.saturating_sub(name.len());
                fits(member, left)
            }),
            _ => true,
        }
    }
    // The recursion is as deep as the value, and each level takes eight bytes of these.
    let mut left = MAX_WRITTEN_INLINE;
    let values = [&input.args].into_iter().chain(&input.data);
    !values.chain(input.globals.iter().map(|(_, json)| json)).all(|json| fits(json, &mut left))
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
    /// The number that every frame about this request carries.
    pub(crate) number: u64,
    pub(crate) cpu: Duration,
    pub(crate) memory: usize,
    pub(crate) stack: usize,
    pub(crate) is_module: bool,
    /// The source text of a script that runs before the program; only a NUL if there is none.
    pub(crate) prelude: &'a [u8],
    /// The source text with a NUL behind it.
    pub(crate) source: &'a [u8],
}

impl<'a> CompileRequest<'a> {
    /// Reads the body of the frame. Fails if it is too short.
    pub(crate) fn decode(body: &'a [u8]) -> io::Result<CompileRequest<'a>> {
        let body = &mut FrameReader(body);
        Ok(CompileRequest {
            number: body.u64()?,
            cpu: Duration::from_nanos(body.u64()?),
            memory: body.u64()? as usize,
            stack: body.u64()? as usize,
            is_module: body.u8()? == 1,
            prelude: body.bytes()?,
            source: body.bytes()?,
        })
    }
}

/// A `Compile` request, without the last byte.
///
/// The length of the source text is checked by the caller, which reports it in other words.
pub(crate) fn encode_compile(
    number: u64,
    prelude: &str,
    source: &str,
    form: ProgramForm,
    limits: &GuestLimits,
) -> FrameWriter {
    let mut frame = FrameWriter::of_request(FrameKind::Compile, number);
    frame.u64(limits.cpu.as_nanos() as u64).u64(limits.memory as u64).u64(limits.stack as u64);
    frame.u8(u8::from(form == ProgramForm::Module));
    frame.nul_terminated(prelude.as_bytes()).nul_terminated(source.as_bytes());
    frame
}

/// Bytes of the answer to `Compile` at most. The names take less room than the source text.
pub(crate) const MAX_COMPILED: usize = 2 * MAX_BYTECODE;
/// Names that a worker may report for one program.
const MAX_NAMES: usize = 1 << 16;

/// The compiled code in the answer to `Compile`. The parent stores it and sends it back to workers
/// of the same share, without looking into it.
#[derive(Debug, Default)]
pub(crate) struct CompiledCode {
    pub(crate) bytecode: Vec<u8>,
    /// Candidates for names of functions that a script declares at its top level; empty for a
    /// module. See [`declared_names`](crate::program::declared_names).
    pub(crate) names: Vec<String>,
    /// Bytecode that runs first; empty if there is none.
    pub(crate) prelude: Vec<u8>,
    /// Names that the prelude declares: they are not the program's.
    pub(crate) prelude_names: Vec<String>,
}

impl CompiledCode {
    /// The body of the answer, behind processor time and memory.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Only the body is used, so the kind of the frame does not matter.
        let mut body = FrameWriter::new(FrameKind::Compiled);
        body.list(&self.names).bytes(&self.prelude).list(&self.prelude_names);
        body.rest(&self.bytecode);
        body.into_body()
    }

    /// The reverse of [`encode`](Self::encode). Fails if an intact worker would not send it.
    pub(crate) fn decode(body: &[u8]) -> io::Result<CompiledCode> {
        let body = &mut FrameReader(body);
        let names = |body: &mut FrameReader| -> io::Result<Vec<String>> {
            let names = body.list_of_at_most(MAX_NAMES)?;
            Ok(names.into_iter().map(str::to_owned).collect())
        };
        Ok(CompiledCode {
            names: names(body)?,
            prelude: body.bytes()?.to_vec(),
            prelude_names: names(body)?,
            bytecode: body.0.to_vec(),
        })
    }
}
