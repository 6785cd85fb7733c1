//! A guest in the caller's own process, without worker, jail and socket, to measure what those
//! cost. Only the feature `internals` builds it, because it must not be used for anything else: a
//! program that crashes the engine or exceeds its memory ends the caller, and nothing stops a
//! program that ignores its deadline.

use std::io;

use crate::guest::{GuestRunner, ParentChannel};
use crate::limits::GuestLimits;
use crate::program_io::ProgramInput;
use crate::protocol::{FRAME_HEADER, FrameKind, REQUEST_NUMBER};
use crate::request::{HostNames, encode_run};
use crate::{Json, Program};

/// Where the body of an answer begins: behind the header come the number of the request, processor
/// time and memory.
const ANSWER_BODY: usize = FRAME_HEADER + REQUEST_NUMBER + 16;

/// The inside of a worker, in this process.
pub struct InProcessGuest(GuestRunner);

impl InProcessGuest {
    /// Reserves the guest's memory and makes the first runtime.
    pub fn new() -> io::Result<InProcessGuest> {
        GuestRunner::new(usize::MAX).map(InProcessGuest)
    }

    /// Runs a program from the same request, and to the same answer, as a worker does.
    pub fn run(
        &mut self,
        program: &Program,
        input: &ProgramInput,
        limits: &GuestLimits,
    ) -> io::Result<Json> {
        let request = encode_run(0, program, input, limits, &HostNames::default())
            .map_err(io::Error::other)?
            .finish()?;
        // The last byte of the request is not appended: nothing here spins.
        let mut channel = MemoryChannel { request, answer: Vec::new() };
        self.0.answer_request(&mut channel)?;
        let (kind, body) = (channel.answer[FRAME_HEADER - 1], &channel.answer[ANSWER_BODY..]);
        match FrameKind::from_byte(kind) {
            Some(FrameKind::Done) => Ok(serde_json::from_slice(body)?),
            _ => Err(io::Error::other(String::from_utf8_lossy(body).into_owned())),
        }
    }
}

/// Hands over one request, and keeps the last frame that the guest sends.
struct MemoryChannel {
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl ParentChannel for MemoryChannel {
    // The answer is the last frame; log lines before it are overwritten.
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.answer = frame.to_vec();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<(FrameKind, Vec<u8>)> {
        let frame = std::mem::take(&mut self.request);
        let kind = frame
            .get(FRAME_HEADER - 1)
            .and_then(|byte| FrameKind::from_byte(*byte))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((kind, frame))
    }
}
