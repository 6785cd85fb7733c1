//! The main function of a worker process: enter the jail, greet the parent, then answer one
//! request after the other until the parent is gone.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::guest::{GuestRunner, ParentChannel};
use crate::jail::{self, JailLayer};
use crate::protocol::{self, FRAME_HEADER, FrameKind, FrameWriter, spin_briefly};

/// Bytes that are read at a time.
const READ_SIZE: usize = 64 << 10;
/// Bytes of the longest request that is accepted. The limits of the parent are far below; this
/// only keeps a broken parent from exhausting the memory.
const MAX_REQUEST: usize = 512 << 20;
/// Bytes of stack that a worker needs: the 4 MiB that limits allow a guest, and as much again for
/// functions of the engine that do not check the depth.
const STACK: u64 = 8 << 20;
/// Bytes of the stack that guests may not use: for the worker itself, and for the engine between
/// two checks of the depth.
const STACK_RESERVE: u64 = 1 << 20;
/// How long a worker looks for the next request without sleeping: being woken takes as long as a
/// small call.
const SPIN_TIME: Duration = Duration::from_micros(50);

/// Turns this process into a worker. Must be called before anything else in `main`: before any
/// thread is started, any file opened, or the environment read. Standard input must be the socket
/// from the pool. Returns when the parent closes it.
pub fn worker_main() -> ExitCode {
    worker_main_without_layers(&[])
}

/// A worker whose jail lacks layers, as on a kernel without them. For tests of the pool.
#[doc(hidden)]
pub fn worker_main_without_layers(layers: &[JailLayer]) -> ExitCode {
    // Before the jail, which forbids it.
    let guest_stack = raise_stack_limit();
    let report = jail::enter(layers);
    // An error means that the parent is gone or broken. Neither can take a report.
    let _ = serve(&mut ParentSocket::default(), &report.to_json().to_string(), guest_stack);
    ExitCode::SUCCESS
}

/// Enters the jail, except these layers, and nothing else: for tests that attack it from inside.
#[doc(hidden)]
pub fn jail_this_process(without: &[JailLayer]) {
    jail::enter(without);
}

/// Raises the limit of the stack to what the deepest calls need, if it is lower and the hard limit
/// permits. Returns how many bytes a guest may use.
fn raise_stack_limit() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system writes or reads the structures. The stack of the first thread grows on
    // demand up to the current limit, so raising it now has an effect.
    unsafe {
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        if limit.rlim_cur < STACK {
            let raised = libc::rlimit { rlim_cur: STACK.min(limit.rlim_max), ..limit };
            if libc::setrlimit(libc::RLIMIT_STACK, &raised) == 0 {
                limit = raised;
            }
        }
    }
    // At least 1: the engine takes 0 for no limit at all.
    limit.rlim_cur.saturating_sub(STACK_RESERVE).max(limit.rlim_cur / 8).max(1) as usize
}

/// Greets, then answers requests until the socket fails.
fn serve(socket: &mut ParentSocket, jail_report: &str, guest_stack: usize) -> io::Result<()> {
    let mut hello = FrameWriter::new(FrameKind::Hello);
    hello.rest(protocol::MAGIC).u32(protocol::VERSION).rest(jail_report.as_bytes());
    socket.send(&hello.finish()?)?;
    let mut guests = GuestRunner::new(guest_stack)?;
    loop {
        let was_only_request = guests.answer_request(socket)?;
        // If there are other calls, they have use for this processor.
        if was_only_request {
            socket.spin_for_request()?;
        }
    }
}

/// The socket to the parent, which is descriptor 0. Not `std::io::Stdin`, which cannot write.
#[derive(Default)]
pub(crate) struct ParentSocket {
    /// Bytes that were received and not taken yet.
    received: Vec<u8>,
}

impl ParentSocket {
    /// Reads what arrives within [`SPIN_TIME`], without sleeping.
    fn spin_for_request(&mut self) -> io::Result<()> {
        let end = Instant::now() + SPIN_TIME;
        while self.received.is_empty() && Instant::now() < end {
            match self.read(READ_SIZE, libc::MSG_DONTWAIT) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => spin_briefly(),
                read => read?,
            }
        }
        Ok(())
    }

    /// Reads until `count` bytes are there.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        while self.received.len() < count {
            self.read((count - self.received.len()).max(READ_SIZE), 0)?;
        }
        Ok(())
    }

    /// Reads once, up to `room` bytes or what the buffer has room for anyway.
    fn read(&mut self, room: usize, flags: libc::c_int) -> io::Result<()> {
        self.received.reserve(room);
        let room = self.received.spare_capacity_mut();
        // SAFETY: the system writes at most `room.len()` bytes into the spare capacity.
        let read = unsafe { libc::recv(0, room.as_mut_ptr().cast(), room.len(), flags) };
        match read {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read if read > 0 => {
                // SAFETY: the system has written `read` bytes behind the current length.
                unsafe { self.received.set_len(self.received.len() + read as usize) };
                Ok(())
            }
            _ => ignore_interruption(),
        }
    }
}

impl ParentChannel for ParentSocket {
    fn send(&mut self, mut frame: &[u8]) -> io::Result<()> {
        while !frame.is_empty() {
            // SAFETY: the system reads at most `frame.len()` bytes of the slice.
            let written = unsafe { libc::write(0, frame.as_ptr().cast(), frame.len()) };
            if written < 0 {
                ignore_interruption()?;
            } else {
                frame = &frame[written as usize..];
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<(FrameKind, Vec<u8>)> {
        self.fill(FRAME_HEADER)?;
        loop {
            if let Some((kind, end)) = protocol::first_frame(&self.received, |_| MAX_REQUEST)? {
                let rest = self.received.split_off(end);
                return Ok((kind, std::mem::replace(&mut self.received, rest)));
            }
            // `first_frame` has checked the length.
            let length = self
                .received
                .first_chunk::<4>()
                .map_or(0, |header| u32::from_le_bytes(*header) as usize);
            self.fill(4 + length)?;
        }
    }
}

/// Success if the last system call was interrupted by a signal, so that the caller tries again;
/// otherwise its error.
fn ignore_interruption() -> io::Result<()> {
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
