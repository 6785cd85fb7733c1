//! A guest without a worker, to measure what the jail and the pipe cost. Not a way to run anything:
//! a program that crashes the engine takes the caller with it, and nothing ends one that ignores
//! its deadline.

use std::io;

use crate::guest::{Guest, Link};
use crate::limits::Limits;
use crate::output::Input;
use crate::pool::request;
use crate::wire::{HEAD, Kind};
use crate::{Json, Program};

/// The inside of a worker, in this process.
#[doc(hidden)]
pub struct InProcess(Guest);

impl InProcess {
    /// Reserves the memory.
    pub fn new() -> io::Result<InProcess> {
        Guest::new(usize::MAX).map(InProcess)
    }

    /// The same work as a worker's, on the same bytes.
    pub fn run(&mut self, program: &Program, input: &Input, limits: &Limits) -> io::Result<Json> {
        let frame = request(program, input, limits, &[]).map_err(io::Error::other)?.finish()?;
        let mut link = Memory { request: frame, reply: Vec::new() };
        self.0.answer(&mut link)?;
        match Kind::of(link.reply[HEAD - 1]) {
            Some(Kind::Done) => Ok(serde_json::from_slice(&link.reply[HEAD + 16..])?),
            _ => Err(io::Error::other(
                String::from_utf8_lossy(&link.reply[HEAD + 16..]).into_owned(),
            )),
        }
    }
}

struct Memory {
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Link for Memory {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.reply = frame.to_vec();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<(Kind, Vec<u8>)> {
        let frame = std::mem::take(&mut self.request);
        let kind = frame
            .get(HEAD - 1)
            .and_then(|byte| Kind::of(*byte))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((kind, frame))
    }
}
