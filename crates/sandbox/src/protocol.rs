//! The protocol between parent and worker: frames over one socket.
//!
//! ```text
//!   ┌────────────┬──────┬──────────────────┐
//!   │ length u32 │ kind │ body             │   the length counts kind and body;
//!   └────────────┴──────┴──────────────────┘   all numbers are little-endian
//!
//!   parent                        worker
//!          ◀──────────── Hello             once, after the worker has locked itself in
//!   Run or Compile ─────────────▶
//!          ◀──────────── Log, HostCall     any number of them
//!          ◀──────────── Waiting           the guest needs a host function's answer
//!   HostReply ──────────────────▶
//!          ◀──────────── Done, Compiled or Failed
//! ```
//!
//! Every request starts with a random number, and so does every frame that the worker sends about
//! it. A frame with another number belongs to no request that is in progress.
//!
//! The parent must not trust what it reads: a bug of the engine may have given a guest control
//! over its worker. So the length of a frame is checked against the cap of its kind before memory
//! is reserved for it.

use std::io;

/// The first bytes of a worker's greeting. A program that is not a worker does not send them.
pub(crate) const MAGIC: &[u8; 8] = b"twsandbx";
/// Incremented whenever the layout of a frame changes; parent and worker must have the same.
pub(crate) const VERSION: u32 = 5;
/// The last byte of a request that is the only one in its pool: the worker then waits a moment for
/// the next request before it sleeps. Any other value is 0.
pub(crate) const ONLY_REQUEST: u8 = 1;
/// Bytes before the body: length and kind.
pub(crate) const FRAME_HEADER: usize = 5;
/// Bytes of the number of a request, at the start of the body.
pub(crate) const REQUEST_NUMBER: usize = 8;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// To the worker: source text to compile. See [`crate::request`].
    Compile = 1,
    /// To the worker: a program to run. See [`crate::request`].
    Run,
    /// To the worker: the answer of a host function. Call number, 1 for success or 0, JSON.
    HostReply,
    /// From the worker, as its first frame: magic, version, report of the jail as JSON.
    Hello,
    /// The answer to `Compile`: processor time, memory, compiled code ([`crate::request`]).
    Compiled,
    /// The answer to `Run`: processor time, memory, result as JSON.
    Done,
    /// The answer to either if it failed: processor time, memory, failure as JSON.
    Failed,
    /// The guest calls a host function: call number, index of the function, arguments as JSON.
    HostCall,
    /// The guest has nothing left to do until a host function answers. The number alone.
    Waiting,
    /// A line of the guest's log: level, text.
    Log,
}

impl FrameKind {
    const ALL: [FrameKind; 10] = [
        FrameKind::Compile,
        FrameKind::Run,
        FrameKind::HostReply,
        FrameKind::Hello,
        FrameKind::Compiled,
        FrameKind::Done,
        FrameKind::Failed,
        FrameKind::HostCall,
        FrameKind::Waiting,
        FrameKind::Log,
    ];

    /// The kind that a byte stands for, if any.
    pub(crate) fn from_byte(byte: u8) -> Option<FrameKind> {
        FrameKind::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Builds one frame. The length is filled in by [`finish`](Self::finish).
pub(crate) struct FrameWriter(Vec<u8>);

impl FrameWriter {
    pub(crate) fn new(kind: FrameKind) -> FrameWriter {
        FrameWriter(vec![0, 0, 0, 0, kind as u8])
    }

    /// A frame that belongs to a request.
    pub(crate) fn of_request(kind: FrameKind, number: u64) -> FrameWriter {
        let mut frame = FrameWriter::new(kind);
        frame.u64(number);
        frame
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut FrameWriter {
        self.0.push(value);
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut FrameWriter {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut FrameWriter {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Bytes, preceded by their length.
    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut FrameWriter {
        self.u32(value.len() as u32);
        self.rest(value)
    }

    /// Bytes with a NUL behind them, preceded by the length of both. The engine's parsers read one
    /// byte beyond the text, so this saves the worker a copy.
    pub(crate) fn nul_terminated(&mut self, value: &[u8]) -> &mut FrameWriter {
        self.u32(value.len() as u32 + 1);
        self.rest(value).u8(0)
    }

    /// Bytes without a length: they extend to the end of the frame.
    pub(crate) fn rest(&mut self, value: &[u8]) -> &mut FrameWriter {
        self.0.extend_from_slice(value);
        self
    }

    /// Strings, preceded by their number.
    pub(crate) fn list<T: AsRef<str>>(&mut self, values: &[T]) -> &mut FrameWriter {
        self.u32(values.len() as u32);
        for value in values {
            self.bytes(value.as_ref().as_bytes());
        }
        self
    }

    /// Bytes so far, header included.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The body alone.
    pub(crate) fn into_body(mut self) -> Vec<u8> {
        self.0.split_off(FRAME_HEADER)
    }

    /// The complete frame. Fails if it is longer than its length field can say (4 GiB); then a
    /// length inside may have been truncated, too, and nothing of the frame is sent.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        let length =
            u32::try_from(self.0.len() - 4).map_err(|_| invalid_data("a frame is too long"))?;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        Ok(self.0)
    }
}

/// Reads the body of a frame from front to back. Every method fails if the body is too short; the
/// bytes that are left are in the field.
pub(crate) struct FrameReader<'a>(pub(crate) &'a [u8]);

impl<'a> FrameReader<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| invalid_data("a frame is too short"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self) -> io::Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn u64(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Bytes that are preceded by their length.
    pub(crate) fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// UTF-8 that is preceded by its length.
    pub(crate) fn text(&mut self) -> io::Result<&'a str> {
        let text = std::str::from_utf8(self.bytes()?);
        text.map_err(|_| invalid_data("a text in a frame is not UTF-8"))
    }

    /// Strings that are preceded by their number.
    pub(crate) fn list(&mut self) -> io::Result<Vec<&'a str>> {
        self.list_of_at_most(usize::MAX)
    }

    /// The same, from a worker: a string takes four bytes in the frame and many more in memory, so
    /// the number is bounded.
    pub(crate) fn list_of_at_most(&mut self, most: usize) -> io::Result<Vec<&'a str>> {
        let count = self.u32()?;
        if count as usize > most {
            return Err(invalid_data("a list in a frame is too long"));
        }
        // No capacity is reserved in advance: the number may be false.
        (0..count).map(|_| self.text()).collect()
    }
}

/// The kind of the first frame in `bytes`, and its length including the header; `None` if the
/// frame is not complete yet. Fails if the frame is of an unknown kind or longer than the `cap` of
/// its kind, as soon as the header is there.
pub(crate) fn first_frame(
    bytes: &[u8],
    cap: impl Fn(FrameKind) -> usize,
) -> io::Result<Option<(FrameKind, usize)>> {
    let Some(header) = bytes.first_chunk::<FRAME_HEADER>() else { return Ok(None) };
    let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let kind = FrameKind::from_byte(header[4])
        .ok_or_else(|| invalid_data("a frame of an unknown kind"))?;
    let cap = cap(kind);
    if length == 0 || length > cap {
        let message = format!("a frame of {length} bytes where at most {cap} are expected");
        return Err(invalid_data(&message));
    }
    Ok((bytes.len() >= 4 + length).then_some((kind, 4 + length)))
}

/// The error for a peer that breaks the protocol. Its kind distinguishes it from a worker that
/// ended.
pub(crate) fn invalid_data(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Spins for about a microsecond, between two looks at the socket. The spin hint leaves the core
/// to the other hardware thread meanwhile.
pub(crate) fn spin_briefly() {
    (0..32).for_each(|_| std::hint::spin_loop());
}
