//! One request to one worker, from its first byte to the answer.
//!
//! ```text
//!   request ──▶ write ──▶ worker ──▶ frames ──▶ Log: kept
//!                 ▲                             HostCall: a future of the host's
//!                 └── HostReply ◀── answers ◀── Waiting: the clocks stop, the permit goes back
//!                                               Done, Compiled, Failed: the end
//!   meanwhile: check_guest at `next_check` ──▶ kill, or let other calls run
//! ```
//!
//! The parent does not trust the worker: each kind of frame has a cap before it is read, every
//! frame must carry the number of this request, the worker's processor time is read from outside,
//! and a frame that is not expected ends the call. A worker is killed by dropping its
//! [`WorkerProcess`]; the pool does that after every error here. Should this process be too busy
//! to look, the system ends a worker that computes beyond its limit (`WorkerProcess::limit_cpu`).

#[cfg(feature = "internals")]
mod fuzzing;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::Instant;

use crate::error::{SandboxError, SandboxErrorCode};
use crate::guest::{GuestFailure, LOG_CUT, LOG_LINE_COST};
use crate::host_functions::{HostError, HostFunctions};
use crate::limits::{MAX_DEPTH, MAX_HOST_CALLS, count_parts, max_parts, whole_milliseconds};
use crate::program_io::{LogLevel, LogLine};
use crate::protocol::{
    self, FRAME_HEADER, FrameKind, FrameReader, FrameWriter, REQUEST_NUMBER, spin_briefly,
};
use crate::request::{CompiledCode, MAX_COMPILED, is_at_most_deep};
use crate::scheduler::{NextPlace, RunPermit, RunPlace};
use crate::worker_process::WorkerProcess;
use crate::{GuestLimits, Json};

#[cfg(feature = "internals")]
pub use fuzzing::fuzz_worker_frames;

/// Processor time beyond its limit after which a guest's worker is killed. Long enough for the
/// engine to notice the limit by itself, which costs no worker.
const GRACE: Duration = Duration::from_millis(15);
/// More time for a guest that is found late. If the hypervisor pauses a virtual machine, the pause
/// counts as processor time of the guest (up to 36 ms were seen) although the engine had no chance
/// to notice.
const LAST_GRACE: Duration = Duration::from_millis(5);
/// Processor time after which a guest makes way for short ones. Not wall-clock time: if the
/// processors are busy, running more guests at a time does not help.
const LONG_CALL: Duration = Duration::from_millis(50);
/// Bytes that a frame may have beside the content that limits cap: numbers of fixed length.
const FRAME_OVERHEAD: usize = 64;
/// Bytes that are read at a time.
const READ_SIZE: usize = 16 << 10;
/// How long a caller looks for the answer without sleeping, if its call is the only one. Being
/// woken takes about as long as a small call.
const SPIN_TIME: Duration = Duration::from_micros(100);
/// Bytes of a failure at most.
const MAX_FAILURE: usize = 256 << 10;
/// Bytes of a result that is parsed without leaving the async thread: that takes less than a
/// millisecond.
const MAX_PARSED_INLINE: usize = 64 << 10;

/// The answer of a worker, whose content is not checked yet.
pub(crate) struct WorkerAnswer {
    pub(crate) kind: FrameKind,
    /// Processor time, as the worker measured it.
    pub(crate) cpu: Duration,
    /// Bytes of memory at the peak, as the worker counted them.
    pub(crate) memory: usize,
    /// The rest of the frame: bytecode, result or failure.
    pub(crate) body: Vec<u8>,
}

/// A request in progress.
pub(crate) struct WorkerCall<'a> {
    worker: &'a mut WorkerProcess,
    /// The number of the request. Frames with another number are violations.
    number: u64,
    /// The kind of the request, `Run` or `Compile`.
    kind: FrameKind,
    /// Bytes for the worker; the first `sent` of them are on their way.
    outgoing: Vec<u8>,
    sent: usize,
    limits: &'a GuestLimits,
    /// The log so far, which an error carries, too.
    pub(crate) log: Vec<LogLine>,
    /// Bytes for which the log still has room.
    log_left: usize,
    /// Processor time of the worker before this call.
    cpu_before: Duration,
    /// Wall-clock time of the guest, without the current stretch.
    wall_used: Duration,
    /// The start of the current stretch; `None` while the guest waits for the host.
    running_since: Option<Instant>,
    /// When to look after the guest again, if nothing happens before.
    next_check: Instant,
    /// The processor time at which the worker is killed, once the guest was found late.
    kill_at: Option<Duration>,
    /// Until when the caller looks for the answer without sleeping.
    spin_until: Instant,
}

/// Calls of the guest to the host that are in progress or answered.
struct PendingHostCalls<'a> {
    host: Option<&'a dyn HostFunctions>,
    /// The names by index, as the worker was given them.
    names: &'a [String],
    /// Calls in progress, with their numbers. Dropped with the call of the guest.
    calls: FuturesUnordered<BoxFuture<'a, (u32, Result<Json, HostError>)>>,
    /// Answers for which the worker does not wait yet. They are sent only then: the worker reads
    /// nothing while its guest runs.
    answers: VecDeque<(u32, Result<Json, HostError>)>,
}

impl<'a> WorkerCall<'a> {
    /// A request that is not sent yet. `is_only_call`: the pool has no other call, so that this
    /// processor has nothing better to do than to wait for the answer without sleeping.
    pub(crate) fn new(
        worker: &'a mut WorkerProcess,
        number: u64,
        request: Vec<u8>,
        limits: &'a GuestLimits,
        is_only_call: bool,
    ) -> io::Result<Self> {
        worker.watch()?;
        let now = Instant::now();
        let cpu_before = worker.cpu_time().unwrap_or_default();
        worker.limit_cpu(cpu_before + limits.cpu + GRACE + LAST_GRACE);
        Ok(WorkerCall {
            cpu_before,
            worker,
            number,
            kind: FrameKind::from_byte(request[FRAME_HEADER - 1]).unwrap_or(FrameKind::Run),
            outgoing: request,
            sent: 0,
            limits,
            log: Vec::new(),
            // The worker cuts the log. This is a cap against a worker that does not.
            log_left: limits.log + LOG_CUT.len() + LOG_LINE_COST,
            wall_used: Duration::ZERO,
            running_since: Some(now),
            next_check: now + (limits.cpu + GRACE).min(limits.wall).min(LONG_CALL),
            kill_at: None,
            spin_until: if is_only_call { now + SPIN_TIME } else { now },
        })
    }

    /// Sends the request and serves the guest until the worker has answered.
    pub(crate) async fn finish(
        &mut self,
        host: Option<&dyn HostFunctions>,
        names: &[String],
        run_permit: &mut RunPermit,
    ) -> Result<WorkerAnswer, SandboxError> {
        let mut pending = PendingHostCalls {
            host,
            names,
            calls: FuturesUnordered::new(),
            answers: VecDeque::new(),
        };
        // The claim of a guest that waits for the host to its next place, and the future that
        // waits for that place once the host has answered.
        let mut claim: Option<NextPlace> = None;
        let mut next_place: Option<BoxFuture<'static, RunPlace>> = None;
        self.write_available().map_err(|error| self.socket_failed(&error))?;
        self.spin_for_answer().await;
        loop {
            while let Some((kind, frame)) =
                self.next_frame().map_err(|error| self.socket_failed(&error))?
            {
                if let Some(answer) = self.handle_frame(kind, frame, &mut pending)? {
                    return Ok(answer);
                }
            }
            // The guest waits for the host. Without an answer it gives its place back; with one it
            // needs a place before it may go on.
            if self.running_since.is_none() {
                if run_permit.may_run() && pending.answers.is_empty() {
                    claim = run_permit.suspend();
                } else if run_permit.may_run() {
                    self.send_host_reply(&mut pending)?;
                } else if !pending.answers.is_empty() && next_place.is_none() {
                    next_place = claim.take().map(|claim| Box::pin(claim.acquire()) as _);
                }
            }
            let next_check = self.next_check;
            // In this order: frames first, because one of them may be the answer.
            tokio::select! {
                biased;
                moved = move_bytes(self.worker, &self.outgoing, &mut self.sent) => {
                    moved.map_err(|error| self.socket_failed(&error))?;
                    // The timer below never fires for a worker that sends all the time.
                    if Instant::now() >= next_check {
                        self.check_guest(run_permit)?;
                    }
                }
                Some(answer) = pending.calls.next(), if !pending.calls.is_empty() => {
                    pending.answers.push_back(answer);
                }
                place = async { next_place.as_mut().expect("checked by the guard").await },
                    if next_place.is_some() =>
                {
                    next_place = None;
                    run_permit.resume(place);
                }
                () = tokio::time::sleep_until(next_check) => self.check_guest(run_permit)?,
            }
        }
    }

    /// Looks for the first bytes of the answer without sleeping, for a moment.
    async fn spin_for_answer(&mut self) {
        while self.sent == self.outgoing.len() && Instant::now() < self.spin_until {
            match read_available(&self.worker.socket, &mut self.worker.received) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    spin_briefly();
                    // Other tasks of this runtime go on meanwhile.
                    tokio::task::yield_now().await;
                }
                // Bytes are in the buffer now; an error comes again at the next read.
                _ => break,
            }
        }
    }

    /// Writes as much of `outgoing` as the socket takes without waiting.
    fn write_available(&mut self) -> io::Result<()> {
        while self.sent < self.outgoing.len() {
            match (&self.worker.socket).write(&self.outgoing[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes the next complete frame out of the buffer, header included.
    fn next_frame(&mut self) -> io::Result<Option<(FrameKind, Vec<u8>)>> {
        // No content is allowed for kinds that are not expected; `handle_frame` refuses them.
        let cap = |kind| {
            FRAME_OVERHEAD
                + match kind {
                    FrameKind::Done | FrameKind::HostCall => self.limits.output,
                    FrameKind::Compiled if self.kind == FrameKind::Compile => MAX_COMPILED,
                    FrameKind::Failed => MAX_FAILURE,
                    FrameKind::Log => self.log_left,
                    _ => 0,
                }
        };
        let Some((kind, end)) = protocol::first_frame(&self.worker.received, cap)? else {
            return Ok(None);
        };
        let rest = self.worker.received.split_off(end);
        let frame = std::mem::replace(&mut self.worker.received, rest);
        Ok(Some((kind, frame)))
    }

    /// Handles one frame. Returns the answer, which ends the call, if it is one.
    fn handle_frame(
        &mut self,
        kind: FrameKind,
        frame: Vec<u8>,
        pending: &mut PendingHostCalls,
    ) -> Result<Option<WorkerAnswer>, SandboxError> {
        let malformed = |_| protocol_violation();
        let mut body = FrameReader(&frame[FRAME_HEADER..]);
        // A worker that was taken over may answer an earlier request late, or the next one before
        // it was sent.
        if body.u64().map_err(malformed)? != self.number {
            return Err(protocol_violation());
        }
        match kind {
            // An answer before the whole request was sent cannot be an answer to it.
            FrameKind::Done | FrameKind::Compiled | FrameKind::Failed
                if self.sent == self.outgoing.len() =>
            {
                let cpu = Duration::from_nanos(body.u64().map_err(malformed)?);
                let memory = body.u64().map_err(malformed)? as usize;
                // Moves the body to the front, without another buffer.
                let mut frame = frame;
                frame.drain(..FRAME_HEADER + REQUEST_NUMBER + 16);
                return Ok(Some(WorkerAnswer { kind, cpu, memory, body: frame }));
            }
            FrameKind::Log => {
                let level = LogLevel::from_byte(body.u8().map_err(malformed)?);
                let cost = body.0.len() + LOG_LINE_COST;
                self.log_left = self.log_left.checked_sub(cost).ok_or_else(protocol_violation)?;
                let text = String::from_utf8_lossy(body.0).into_owned();
                self.log.push(LogLine { level, text });
            }
            FrameKind::HostCall => pending.start(&mut body, self.limits).map_err(malformed)?,
            // A worker that waits without having called would stop its clocks for ever.
            FrameKind::Waiting if !pending.calls.is_empty() || !pending.answers.is_empty() => {
                self.stop_wall_clock();
            }
            _ => return Err(protocol_violation()),
        }
        Ok(None)
    }

    /// Ends the current stretch of wall-clock time: the guest waits for the host.
    fn stop_wall_clock(&mut self) {
        if let Some(since) = self.running_since.take() {
            self.wall_used += since.elapsed();
        }
    }

    /// Sends the oldest answer of the host to the worker, which waits for it.
    fn send_host_reply(&mut self, pending: &mut PendingHostCalls) -> Result<(), SandboxError> {
        let Some((id, answer)) = pending.answers.pop_front() else { return Ok(()) };
        let (is_ok, json) = match answer.and_then(|json| host_answer_text(&json, self.limits)) {
            Ok(json) => (true, json),
            Err(HostError { message, mut fields }) => {
                fields.insert("message".to_owned(), Json::String(message));
                (false, Json::Object(fields).to_string())
            }
        };
        let mut frame = FrameWriter::new(FrameKind::HostReply);
        frame.u32(id).u8(u8::from(is_ok)).nul_terminated(json.as_bytes());
        // A worker that waits has read everything that was sent, so little is left here.
        self.outgoing.drain(..self.sent);
        self.sent = 0;
        self.outgoing.extend(frame.finish().map_err(|error| worker_died(&error))?);
        let now = Instant::now();
        self.running_since = Some(now);
        // How much time the guest has left is not known here; `check_time` finds out.
        self.next_check = now + GRACE;
        self.write_available().map_err(|error| self.socket_failed(&error))
    }

    /// Looks after a guest that has not ended: fails if it has used up its time, lets it make way
    /// if it runs for long, and sets the time of the next look.
    fn check_guest(&mut self, run_permit: &mut RunPermit) -> Result<(), SandboxError> {
        let used = self.check_time()?;
        if !run_permit.is_short() {
            return Ok(());
        }
        if used >= LONG_CALL {
            run_permit.make_way();
            self.worker.lower_priority();
        } else {
            // Looks again when the guest may have run for long.
            let left = (LONG_CALL - used).max(Duration::from_millis(1));
            self.next_check = self.next_check.min(Instant::now() + left);
        }
        Ok(())
    }

    /// Fails if the guest has used up its time. Returns its processor time so far, and sets the
    /// time of the next look.
    fn check_time(&mut self) -> Result<Duration, SandboxError> {
        let wall =
            self.wall_used + self.running_since.map_or(Duration::ZERO, |since| since.elapsed());
        if wall >= self.limits.wall {
            let limit = whole_milliseconds(self.limits.wall);
            let message = format!("the program did not end within {limit:?} of wall-clock time");
            return Err(SandboxError::new(SandboxErrorCode::Timeout, message));
        }
        // Without the worker's clock: a guest uses at most as much processor time as time passes.
        let used = self.worker.cpu_time().map_or(wall, |now| now.saturating_sub(self.cpu_before));
        let mut deadline = self.kill_at.unwrap_or(self.limits.cpu + GRACE);
        if used >= deadline {
            if self.kill_at.is_some() {
                let message = "the program used up its time and its worker was killed";
                let mut error = SandboxError::new(SandboxErrorCode::Timeout, message);
                error.cpu = used;
                return Err(error);
            }
            deadline = used + LAST_GRACE;
            self.kill_at = Some(deadline);
        }
        // The guest cannot use up its time sooner than this, if it has one thread.
        let left = (deadline - used).max(Duration::from_millis(1));
        let left =
            if self.running_since.is_some() { left.min(self.limits.wall - wall) } else { left };
        self.next_check = Instant::now() + left;
        Ok(used)
    }

    /// The error for a socket that failed: with the exit status, if the worker has ended.
    fn socket_failed(&mut self, error: &io::Error) -> SandboxError {
        if error.kind() == io::ErrorKind::InvalidData {
            return worker_died(error);
        }
        match self.worker.exit_status() {
            Some(status) => SandboxError::new(
                SandboxErrorCode::WorkerDied,
                format!("the worker ended during the call ({status})"),
            ),
            None => worker_died(error),
        }
    }
}

/// The error for a worker that ended without an exit status, or broke the protocol.
fn worker_died(error: &io::Error) -> SandboxError {
    let message = format!("the worker ended during the call: {error}");
    SandboxError::new(SandboxErrorCode::WorkerDied, message)
}

/// Reads what has arrived, or waits until something does; meanwhile writes what is left of
/// `outgoing`. Can be dropped at any await without losing a byte.
async fn move_bytes(
    worker: &mut WorkerProcess,
    outgoing: &[u8],
    sent: &mut usize,
) -> io::Result<()> {
    let (watch, mut socket, received) = worker.parts();
    loop {
        tokio::select! {
            biased;
            guard = watch.readable() => match read_available(socket, received) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard?.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            },
            guard = watch.writable(), if *sent < outgoing.len() => {
                match socket.write(&outgoing[*sent..]) {
                    Ok(count) => *sent += count,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard?.clear_ready(),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
}

/// Reads once, without waiting.
fn read_available(mut socket: &UnixStream, received: &mut Vec<u8>) -> io::Result<usize> {
    let filled = received.len();
    received.resize(filled + READ_SIZE, 0);
    let read = socket.read(&mut received[filled..]);
    received.truncate(filled + *read.as_ref().unwrap_or(&0));
    read
}

impl PendingHostCalls<'_> {
    /// Starts the call that a `HostCall` frame asks for. Fails if no intact worker would send it.
    fn start(&mut self, body: &mut FrameReader, limits: &GuestLimits) -> io::Result<()> {
        let (id, index) = (body.u32()?, body.u32()?);
        let (Some(host), Some(name)) = (self.host, self.names.get(index as usize)) else {
            return Err(protocol::invalid_data("a host function that does not exist"));
        };
        if self.calls.len() + self.answers.len() >= MAX_HOST_CALLS {
            return Err(protocol::invalid_data("more calls to the host than a guest may make"));
        }
        check_json_size(body.0, limits.output)?;
        let arguments = serde_json::from_slice(body.0)?;
        let answer = host.call(name, arguments);
        self.calls.push(Box::pin(async move { (id, answer.await) }));
        Ok(())
    }
}

/// Refuses JSON that would take too much memory when it is parsed. An intact worker has counted
/// the same before it sent the text.
fn check_json_size(json: &[u8], limit: usize) -> io::Result<()> {
    if json.len() > limit || count_parts(json) > max_parts(limit) {
        return Err(protocol::invalid_data("more JSON than a guest may send"));
    }
    Ok(())
}

/// The answer of a host function as text, or the error that the guest gets instead.
fn host_answer_text(json: &Json, limits: &GuestLimits) -> Result<String, HostError> {
    if !is_at_most_deep(json, MAX_DEPTH) {
        return Err(HostError::new(format!("the answer is nested deeper than {MAX_DEPTH} levels")));
    }
    let text = json.to_string();
    if text.len() > limits.input {
        return Err(HostError::new(format!(
            "the answer is larger than the {} bytes that are allowed",
            limits.input
        )));
    }
    Ok(text)
}

impl WorkerAnswer {
    /// The compiled code, as the answer to `Compile`.
    pub(crate) fn compiled_code(&self) -> Result<CompiledCode, SandboxError> {
        if self.kind != FrameKind::Compiled {
            return Err(protocol_violation());
        }
        CompiledCode::decode(&self.body).map_err(|_| protocol_violation())
    }

    /// The result, as the answer to `Run`.
    pub(crate) async fn result(self, limits: &GuestLimits) -> Result<Json, SandboxError> {
        if self.kind != FrameKind::Done {
            return Err(protocol_violation());
        }
        let (limit, is_small) = (limits.output, self.body.len() <= MAX_PARSED_INLINE);
        let parse = move || {
            check_json_size(&self.body, limit).ok()?;
            serde_json::from_slice(&self.body).ok()
        };
        let parsed = if is_small {
            parse()
        } else {
            // Other tasks of the runtime must not wait for a result that the guest made large.
            tokio::task::spawn_blocking(parse).await.ok().flatten()
        };
        parsed.ok_or_else(protocol_violation)
    }

    /// The failure in a `Failed` frame. The outer error means that the frame is malformed, so that
    /// the worker cannot be used again.
    pub(crate) fn failure(&self) -> Result<SandboxError, SandboxError> {
        let is_small = check_json_size(&self.body, MAX_FAILURE).is_ok();
        let failure = is_small.then(|| GuestFailure::from_json(&self.body)).flatten();
        let mut error = failure.ok_or_else(protocol_violation)?;
        error.cpu = self.cpu;
        Ok(error)
    }
}

/// The error for a frame that an intact worker does not send. Its details are of no use to a
/// caller: the attacker who controls the worker chooses them.
fn protocol_violation() -> SandboxError {
    let message = "the worker violated the protocol and was killed";
    SandboxError::new(SandboxErrorCode::WorkerDied, message)
}

/// Waits for the greeting of a worker that was just started, and returns its body.
pub(crate) async fn receive_hello(worker: &mut WorkerProcess, cap: usize) -> io::Result<Vec<u8>> {
    worker.watch()?;
    loop {
        if let Some((kind, end)) = protocol::first_frame(&worker.received, |_| cap)? {
            let body = worker.received.drain(..end).skip(FRAME_HEADER).collect();
            return if kind == FrameKind::Hello {
                Ok(body)
            } else {
                Err(protocol::invalid_data("the first frame is not a greeting"))
            };
        }
        move_bytes(worker, &[], &mut 0).await?;
    }
}
