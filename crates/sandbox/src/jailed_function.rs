//! One Rust function, from bytes to bytes, that runs in jailed worker processes of this program.
//!
//! For work on hostile input that needs no engine, above all parsers: whatever the input makes the
//! function do (overflow the stack, take all memory, never return) ends a worker, and the caller
//! gets an error. Nothing here knows what the bytes mean.
//!
//! ```text
//!   caller's thread, blocks                       worker process
//!   call ─▶ idle worker, or a new one ─ request ─▶ jail ─▶ function ─┐
//!     ▲       at most one per core                                   │
//!     └────────── answer, or the reason why there is none ◀──────────┘
//! ```
//!
//! Callers need no async runtime. A worker that answered is used again; one that exceeded a limit,
//! ended or broke the protocol is killed. Because a worker is never asked while it still owes an
//! answer, an answer cannot be mistaken for that to another request.
//!
//! Unlike the workers of a pool, these may lack layers of the jail: the alternative is to run the
//! function in this process, without any layer. The answer is as untrusted as the request.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::guest::ParentChannel;
use crate::jail;
use crate::protocol::{self, FRAME_HEADER, FrameKind, FrameWriter};
use crate::worker_main::ParentSocket;
use crate::worker_process::{WorkerCommand, WorkerProcess, WorkerSpawner};

/// Bytes of stack of a worker. Parsers recurse; those of a worker that needs more than this end
/// with a signal.
const STACK: u64 = 64 << 20;
/// Bytes of address space of a worker: its stack, the program itself, and memory for the function.
const ADDRESS_SPACE: u64 = 512 << 20;
/// Seconds of processor time after which the system ends a worker, in case its parent is stopped.
const CPU_SECONDS: u64 = 30;
/// Processor time after which a worker is not used again, so that a well-behaved one stays far
/// below [`CPU_SECONDS`].
const WORKER_LIFE: Duration = Duration::from_secs(10);
/// Processor time of a call after which its worker is not used again: it has probably grown, and
/// starting another one takes a few milliseconds.
const LONG_CALL: Duration = Duration::from_millis(200);
/// What a worker may take from its start to its greeting.
const HELLO_LIMITS: JailedFunctionLimits = JailedFunctionLimits {
    cpu: Duration::from_secs(10),
    wall: Duration::from_secs(30),
    answer: 16 << 10,
};
/// Bytes that are read at a time.
const READ_SIZE: usize = 64 << 10;

/// The limits of one call.
#[derive(Clone, Copy, Debug)]
pub struct JailedFunctionLimits {
    /// Processor time of the worker, as its parent reads it.
    pub cpu: Duration,
    /// Wall-clock time, for a worker that the system does not let run. Larger than `cpu`, because
    /// the machine may be busy.
    pub wall: Duration,
    /// Bytes of the answer. No memory is reserved for a longer one.
    pub answer: usize,
}

/// What the function returned.
#[derive(Clone, Debug)]
pub struct FunctionAnswer {
    /// Its bytes, which nobody has looked at.
    pub bytes: Vec<u8>,
    /// The processor time that the worker took.
    pub cpu: Duration,
}

/// Why a call has no answer. Its worker is gone in every case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JailedFunctionError {
    /// The function used up its processor time, or the wall-clock time passed.
    #[error("the worker used up its time")]
    TimedOut,
    /// The process ended: the function overflowed the stack, used up the memory or panicked.
    #[error("the worker ended ({0})")]
    Died(String),
    /// The answer is longer than allowed, or not a frame at all.
    #[error("the worker broke the protocol: {0}")]
    InvalidAnswer(String),
    /// There is no worker: the machine cannot start one, or the program is not one.
    #[error("{0}")]
    StartFailed(String),
}

/// A function that runs in worker processes. Several threads may call it at the same time.
pub struct JailedFunction {
    command: WorkerCommand,
    /// Made at the first call.
    spawner: OnceLock<WorkerSpawner>,
    workers: Mutex<FunctionWorkers>,
    /// Signalled when a call ends.
    call_ended: Condvar,
    /// The number of processor cores: more workers would not be faster.
    max_workers: usize,
}

/// The workers that live.
#[derive(Default)]
struct FunctionWorkers {
    idle: Vec<WorkerProcess>,
    /// How many calls have a worker or are starting one.
    busy: usize,
}

impl JailedFunction {
    /// A function whose workers are started by this command. Their `main` must call
    /// [`jailed_function_main`]. Starts nothing yet.
    pub fn new(command: WorkerCommand) -> JailedFunction {
        JailedFunction {
            command,
            spawner: OnceLock::new(),
            workers: Mutex::default(),
            call_ended: Condvar::new(),
            max_workers: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Calls the function and blocks until it has answered or a limit is reached. Waits first if
    /// there are as many calls as cores.
    ///
    /// # Errors
    /// If there is no answer, or none that may be read.
    pub fn call(
        &self,
        request: &[u8],
        limits: &JailedFunctionLimits,
    ) -> Result<FunctionAnswer, JailedFunctionError> {
        let mut frame = FrameWriter::new(FrameKind::Run);
        frame.rest(request);
        let frame = frame.finish().map_err(broke_protocol)?;
        let mut slot = self.wait_for_slot();
        let mut worker = match slot.idle.take() {
            Some(worker) => worker,
            None => self.start_worker()?,
        };
        // An error drops the worker, which kills it.
        let (kind, answer) = exchange(&mut worker, &frame, limits)?;
        if kind != FrameKind::Done {
            return Err(JailedFunctionError::InvalidAnswer("a frame of another kind".to_owned()));
        }
        let is_old = worker.cpu_time().is_some_and(|used| used > WORKER_LIFE);
        if !is_old && answer.cpu < LONG_CALL {
            slot.idle = Some(worker);
        }
        Ok(answer)
    }

    /// The process ids of workers that wait for a call, for tests.
    #[doc(hidden)]
    pub fn idle(&self) -> Vec<u32> {
        self.workers().idle.iter().map(WorkerProcess::pid).collect()
    }

    /// Waits until one more call may run. Takes an idle worker, if there is one.
    fn wait_for_slot(&self) -> CallSlot<'_> {
        let mut workers = self.workers();
        while workers.busy >= self.max_workers {
            workers = self.call_ended.wait(workers).unwrap_or_else(PoisonError::into_inner);
        }
        workers.busy += 1;
        // One that ended meanwhile, or sent something without being asked, is killed.
        let idle = std::iter::from_fn(|| workers.idle.pop()).find(WorkerProcess::is_ready);
        CallSlot { function: self, idle }
    }

    fn workers(&self) -> MutexGuard<'_, FunctionWorkers> {
        // A poisoned lock is as good as new: no code that holds it can panic.
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a worker and checks its greeting.
    fn start_worker(&self) -> Result<WorkerProcess, JailedFunctionError> {
        let name = self.command.program.display();
        let cannot_start = |error: io::Error| {
            JailedFunctionError::StartFailed(format!("cannot start the worker `{name}`: {error}"))
        };
        let spawner = match self.spawner.get() {
            Some(spawner) => spawner,
            None => {
                // Two calls may come here at the same time; the thread of the second ends at once.
                let made = WorkerSpawner::new(self.command.clone()).map_err(cannot_start)?;
                self.spawner.get_or_init(|| made)
            }
        };
        let mut worker = spawner.start_blocking().map_err(cannot_start)?;
        let hello = exchange(&mut worker, &[], &HELLO_LIMITS);
        let is_ours = hello.as_ref().is_ok_and(|(kind, hello)| {
            *kind == FrameKind::Hello && hello.bytes.starts_with(&greeting())
        });
        if is_ours {
            return Ok(worker);
        }
        let reason = hello.err().map(|error| format!(": {error}")).unwrap_or_default();
        Err(JailedFunctionError::StartFailed(format!(
            "`{name}` sent no greeting of a worker{reason}"
        )))
    }
}

/// The right to run one call. Dropping it lets the next call run, and keeps the worker in it.
struct CallSlot<'a> {
    function: &'a JailedFunction,
    idle: Option<WorkerProcess>,
}

impl Drop for CallSlot<'_> {
    fn drop(&mut self) {
        let mut workers = self.function.workers();
        workers.busy -= 1;
        workers.idle.extend(self.idle.take());
        self.function.call_ended.notify_one();
    }
}

/// The first bytes of a greeting. The report of the jail follows.
fn greeting() -> Vec<u8> {
    [&protocol::MAGIC[..], &protocol::VERSION.to_le_bytes(), b"function"].concat()
}

/// Sends a frame, then receives one. Returns its kind and its body.
fn exchange(
    worker: &mut WorkerProcess,
    frame: &[u8],
    limits: &JailedFunctionLimits,
) -> Result<(FrameKind, FunctionAnswer), JailedFunctionError> {
    let (start, cpu_before) = (Instant::now(), worker.cpu_time().unwrap_or_default());
    let mut sent = 0;
    loop {
        let progress = write_available(worker, frame, &mut sent)
            .and_then(|()| read_available(worker, limits.answer));
        let wall = start.elapsed();
        // Without the worker's clock: it uses at most as much processor time as time passes.
        let cpu = worker.cpu_time().map_or(wall, |now| now.saturating_sub(cpu_before));
        let complete = protocol::first_frame(&worker.received, |_| limits.answer + 1);
        if let Some((kind, end)) = complete.map_err(broke_protocol)? {
            let bytes = worker.received.drain(..end).skip(FRAME_HEADER).collect();
            return Ok((kind, FunctionAnswer { bytes, cpu }));
        }
        // After the answer, because a worker may end as soon as it has sent it.
        if let Err(error) = progress {
            let status = worker.exit_status().map(|status| status.to_string());
            return Err(JailedFunctionError::Died(status.unwrap_or_else(|| error.to_string())));
        }
        if cpu >= limits.cpu || wall >= limits.wall {
            return Err(JailedFunctionError::TimedOut);
        }
        // One thread cannot use up its processor time sooner than this.
        let wait = (limits.cpu - cpu).min(limits.wall - wall);
        wait_for_socket(worker, sent < frame.len(), wait).map_err(broke_protocol)?;
    }
}

fn broke_protocol(error: io::Error) -> JailedFunctionError {
    JailedFunctionError::InvalidAnswer(error.to_string())
}

/// Writes as much of the frame as the socket takes.
fn write_available(worker: &WorkerProcess, frame: &[u8], sent: &mut usize) -> io::Result<()> {
    while *sent < frame.len() {
        match (&worker.socket).write(&frame[*sent..]) {
            Ok(count) => *sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads what has arrived, up to one frame of `cap` bytes.
fn read_available(worker: &mut WorkerProcess, cap: usize) -> io::Result<()> {
    // A frame that is longer fails in `first_frame`.
    while worker.received.len() <= FRAME_HEADER + cap {
        let filled = worker.received.len();
        worker.received.resize(filled + READ_SIZE, 0);
        let read = (&worker.socket).read(&mut worker.received[filled..]);
        worker.received.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) if count < READ_SIZE => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Blocks until something can be read, or written if `writes`, or the time has passed.
fn wait_for_socket(worker: &WorkerProcess, writes: bool, time: Duration) -> io::Result<()> {
    let events = if writes { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN };
    let mut poll = libc::pollfd { fd: worker.socket.as_raw_fd(), events, revents: 0 };
    // Rounded up: zero milliseconds would not wait at all.
    let milliseconds = i32::try_from(time.as_millis() + 1).unwrap_or(i32::MAX);
    // SAFETY: the system reads and writes one structure, and the descriptor is open.
    if unsafe { libc::poll(&mut poll, 1, milliseconds) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// Turns this process into a worker that answers every request with `function`. Must be called
/// before anything else in `main`: before any thread is started, any file opened, or the
/// environment read. Returns when the parent closes the socket, which is standard input.
///
/// A panic of the function ends the worker like any other panic of `main`.
pub fn jailed_function_main(function: fn(&[u8]) -> Vec<u8>) -> ExitCode {
    // Before the jail, which forbids it.
    limit_worker();
    let report = jail::enter(&[]).to_json().to_string();
    // An error means that the parent is gone or broken. Neither can take a report.
    let _ = answer_requests(&mut ParentSocket::default(), &report, function);
    ExitCode::SUCCESS
}

/// Sets the limits in which workers of functions differ from those of guests. The jail only lowers
/// limits, so they stay.
fn limit_worker() {
    for (resource, value) in [
        // The stack of the first thread grows on demand up to the current limit.
        (libc::RLIMIT_STACK, STACK),
        (libc::RLIMIT_AS, ADDRESS_SPACE),
        (libc::RLIMIT_CPU, CPU_SECONDS),
    ] {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the system writes or reads the structure. If a call fails, the limits of the
        // jail hold.
        unsafe {
            if libc::getrlimit(resource, &mut limit) == 0 {
                let value = value.min(limit.rlim_max);
                limit = libc::rlimit { rlim_cur: value, rlim_max: value };
                libc::setrlimit(resource, &limit);
            }
        }
    }
}

/// Greets, then answers requests until the socket fails.
fn answer_requests(
    socket: &mut ParentSocket,
    jail_report: &str,
    function: fn(&[u8]) -> Vec<u8>,
) -> io::Result<()> {
    let mut hello = FrameWriter::new(FrameKind::Hello);
    hello.rest(&greeting()).rest(jail_report.as_bytes());
    socket.send(&hello.finish()?)?;
    loop {
        let (_, request) = socket.receive()?;
        let mut answer = FrameWriter::new(FrameKind::Done);
        answer.rest(&function(&request[FRAME_HEADER..]));
        socket.send(&answer.finish()?)?;
    }
}
