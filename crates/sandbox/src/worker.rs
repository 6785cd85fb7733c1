//! The whole of a worker process: jail, greeting, then one request after the other until the parent
//! is gone.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::guest::{Guest, Link};
use crate::jail::{self, Layer};
use crate::wire::{self, Frame, HEAD, Kind, pause};

/// How much is read at a time.
const ROOM: usize = 64 << 10;
/// No request is longer than that; the parent's own limits are far below.
const REQUEST: usize = 512 << 20;
/// The stack that a worker wants: what the limits allow a guest, and as much again.
const STACK: u64 = 8 << 20;
/// How long a worker that is done looks for the next request before it sleeps: to be woken takes as
/// long as a small call.
const LINGER: Duration = Duration::from_micros(50);
/// What of the stack is kept for the worker itself and for the engine between two looks at its
/// depth.
const STACK_RESERVE: u64 = 1 << 20;

/// Turns this process into a worker. To be called before anything else: before threads, before the
/// environment is read. Standard input is the socket that the pool gave.
pub fn worker_main() -> ExitCode {
    worker_main_lacking(&[])
}

/// A worker whose jail lacks layers, as on a kernel without them. For tests of what the pool says
/// to that.
#[doc(hidden)]
pub fn worker_main_lacking(layers: &[Layer]) -> ExitCode {
    let stack = raise_stack();
    let report = jail::enter(layers);
    // Its end is that the parent is gone or broken; there is nobody to tell.
    let _ = serve(&mut Socket::default(), &report.to_json().to_string(), stack);
    ExitCode::SUCCESS
}

/// The jail and nothing else, for tests that try it from the inside.
#[doc(hidden)]
pub fn jail_this_process() {
    jail::enter(&[]);
}

/// Makes room for the deepest calls, where whoever started us left less, and says what a guest may
/// use of it.
fn raise_stack() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system fills the structure, or reads it. The stack of the first thread grows up
    // to the limit of the moment.
    unsafe {
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        if limit.rlim_cur < STACK {
            let raised = libc::rlimit { rlim_cur: STACK.min(limit.rlim_max), ..limit };
            if libc::setrlimit(libc::RLIMIT_STACK, &raised) == 0 {
                limit = raised;
            }
        }
    }
    // Never 0, which the engine takes for no limit at all.
    limit.rlim_cur.saturating_sub(STACK_RESERVE).max(limit.rlim_cur / 8).max(1) as usize
}

fn serve(socket: &mut Socket, report: &str, stack: usize) -> io::Result<()> {
    let mut hello = Frame::new(Kind::Hello);
    hello.rest(wire::MAGIC).u32(wire::VERSION).rest(report.as_bytes());
    socket.send(&hello.finish()?)?;
    let mut guest = Guest::new(stack)?;
    loop {
        // Where there are other calls, somebody has use for this processor.
        if guest.answer(socket)? {
            socket.linger()?;
        }
    }
}

/// Descriptor 0, both ways. Not `std::io::Stdin`, which can only be read.
#[derive(Default)]
struct Socket {
    buffer: Vec<u8>,
}

impl Socket {
    /// Reads what comes within a moment, without sleeping.
    fn linger(&mut self) -> io::Result<()> {
        let end = Instant::now() + LINGER;
        while self.buffer.is_empty() && Instant::now() < end {
            match self.read(ROOM, libc::MSG_DONTWAIT) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => pause(),
                read => read?,
            }
        }
        Ok(())
    }

    /// Reads until `wanted` bytes are there.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while self.buffer.len() < wanted {
            self.read((wanted - self.buffer.len()).max(ROOM), 0)?;
        }
        Ok(())
    }

    /// Reads once, at least as much as there is room for if it is there.
    fn read(&mut self, room: usize, flags: libc::c_int) -> io::Result<()> {
        self.buffer.reserve(room);
        let room = self.buffer.spare_capacity_mut();
        // SAFETY: the system writes at most `room.len()` bytes into the buffer's spare room.
        let read = unsafe { libc::recv(0, room.as_mut_ptr().cast(), room.len(), flags) };
        match read {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read if read > 0 => {
                // SAFETY: that many bytes behind the length were written.
                unsafe { self.buffer.set_len(self.buffer.len() + read as usize) };
                Ok(())
            }
            _ => retry(),
        }
    }
}

impl Link for Socket {
    fn send(&mut self, mut frame: &[u8]) -> io::Result<()> {
        while !frame.is_empty() {
            // SAFETY: the bytes are read.
            let written = unsafe { libc::write(0, frame.as_ptr().cast(), frame.len()) };
            if written < 0 {
                retry()?;
            } else {
                frame = &frame[written as usize..];
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        // SAFETY: there is nothing to clean up: all that this process has is memory.
        unsafe { libc::_exit(0) }
    }

    fn receive(&mut self) -> io::Result<(Kind, Vec<u8>)> {
        self.fill(HEAD)?;
        loop {
            if let Some((kind, end)) = wire::first(&self.buffer, REQUEST)? {
                let rest = self.buffer.split_off(end);
                return Ok((kind, std::mem::replace(&mut self.buffer, rest)));
            }
            let length =
                self.buffer.first_chunk::<4>().map_or(0, |head| u32::from_le_bytes(*head) as usize);
            self.fill(4 + length)?;
        }
    }
}

/// Whether the last system call was only interrupted.
fn retry() -> io::Result<()> {
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
