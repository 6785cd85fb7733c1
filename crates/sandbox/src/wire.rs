//! What parent and worker say to each other: frames of a length, a kind and a body. The parent's
//! side of reading is written as if a stranger were speaking, because a worker may have been taken
//! over.

use std::io;

/// The first bytes of a worker's greeting; nothing else speaks like that.
pub(crate) const MAGIC: &[u8; 8] = b"twsandbx";
/// Grows whenever a frame changes its shape.
pub(crate) const VERSION: u32 = 3;
/// The last byte of a pool's request, if that is its only one.
pub(crate) const ALONE: u8 = 1;
/// Length and kind.
pub(crate) const HEAD: usize = 5;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// To the worker: source text to compile.
    Compile = 1,
    /// To the worker: a program to run.
    Run,
    /// To the worker: what a host function answered.
    HostReply,
    /// From the worker, once: who it is and how it is jailed.
    Hello,
    /// The bytecode of a program.
    Compiled,
    /// The result of a call.
    Done,
    /// Why there is none.
    Failed,
    /// The guest calls a host function.
    HostCall,
    /// The guest can do nothing until a host function answers.
    Waiting,
    /// A line for the log.
    Log,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Compile,
        Kind::Run,
        Kind::HostReply,
        Kind::Hello,
        Kind::Compiled,
        Kind::Done,
        Kind::Failed,
        Kind::HostCall,
        Kind::Waiting,
        Kind::Log,
    ];

    pub(crate) fn of(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A frame that is being written.
pub(crate) struct Frame(Vec<u8>);

impl Frame {
    pub(crate) fn new(kind: Kind) -> Frame {
        Frame(vec![0, 0, 0, 0, kind as u8])
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Frame {
        self.0.push(value);
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Frame {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Frame {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Bytes with their length.
    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Frame {
        self.u32(value.len() as u32);
        self.rest(value)
    }

    /// Bytes with their length and a NUL at the end, which counts.
    pub(crate) fn terminated(&mut self, value: &[u8]) -> &mut Frame {
        self.u32(value.len() as u32 + 1);
        self.rest(value).u8(0)
    }

    /// Bytes to the end of the frame.
    pub(crate) fn rest(&mut self, value: &[u8]) -> &mut Frame {
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn list<T: AsRef<str>>(&mut self, values: &[T]) -> &mut Frame {
        self.u32(values.len() as u32);
        for value in values {
            self.bytes(value.as_ref().as_bytes());
        }
        self
    }

    /// The frame, ready to be sent. One that is too long for its length is refused.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        let length = u32::try_from(self.0.len() - 4).map_err(|_| bad("a frame is too long"))?;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        Ok(self.0)
    }
}

/// A body that is being read. Every step says if it is too short.
pub(crate) struct Body<'a>(pub(crate) &'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| bad("a frame is too short"))?;
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

    pub(crate) fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> io::Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| bad("a frame's text is not UTF-8"))
    }

    pub(crate) fn list(&mut self) -> io::Result<Vec<&'a str>> {
        let count = self.u32()?;
        // Not reserved in advance: the count may be a lie.
        (0..count).map(|_| self.text()).collect()
    }
}

/// The first whole frame in `bytes`: its kind and where its body ends. `None` if more bytes are
/// needed.
pub(crate) fn first(bytes: &[u8], cap: usize) -> io::Result<Option<(Kind, usize)>> {
    let Some(head) = bytes.first_chunk::<HEAD>() else { return Ok(None) };
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length == 0 || length > cap {
        return Err(bad(&format!("a frame of {length} bytes where at most {cap} are expected")));
    }
    let kind = Kind::of(head[4]).ok_or_else(|| bad("a frame of an unknown kind"))?;
    Ok((bytes.len() >= 4 + length).then_some((kind, 4 + length)))
}

pub(crate) fn bad(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Lets about a microsecond pass between two looks for words, and the other half of the core have
/// the core.
pub(crate) fn pause() {
    (0..32).for_each(|_| std::hint::spin_loop());
}
