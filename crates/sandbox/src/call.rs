//! One request to one worker, from the first byte to the last. The worker is believed nothing:
//! frames are capped before they are read, its clock is read from outside, and if anything is odd
//! it dies.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::{Code, Error};
use crate::guest::{CUT, Failure};
use crate::host::{HostError, HostFunctions};
use crate::limits::{BYTECODE, MAX_DEPTH, MAX_HOST_CALLS, max_parts, parts, whole};
use crate::output::{Level, LogLine};
use crate::process::Worker;
use crate::wire::{self, Body, Frame, HEAD, Kind, pause};
use crate::{Json, Limits};

/// How long beyond its time a guest may go on before its worker is killed: long enough for the
/// engine to notice by itself, which costs no worker.
const GRACE: Duration = Duration::from_millis(15);
/// What it gets once more if it is late then. On a virtual machine that the host stops for a
/// moment, that moment counts as the guest's time (up to 36 ms were seen), and the engine had no
/// chance to notice.
const LAST_GRACE: Duration = Duration::from_millis(5);
/// How much processor time a guest has its turn for itself. Not time on the clock: where the
/// processors are busy, more guests at a time help nobody.
const LONG: Duration = Duration::from_millis(50);
/// What a frame may have around what the limits cap.
const SLACK: usize = 64 << 10;
/// How much is read at a time.
const CHUNK: usize = 16 << 10;
/// How long a caller looks for the answer of a lone guest before it sleeps. The answer of a small
/// call is there by then.
const PATIENCE: Duration = Duration::from_micros(100);
/// A failure is told in no more than this.
const FAILURE: usize = 256 << 10;

/// What a worker answered.
pub(crate) struct Answer {
    pub(crate) kind: Kind,
    pub(crate) cpu: Duration,
    pub(crate) memory: usize,
    pub(crate) body: Vec<u8>,
}

/// A running request.
pub(crate) struct Conversation<'a> {
    worker: &'a mut Worker,
    outgoing: Vec<u8>,
    sent: usize,
    limits: &'a Limits,
    pub(crate) log: Vec<LogLine>,
    log_left: usize,
    cpu_before: Duration,
    wall_used: Duration,
    /// Since when the guest has been running; `None` while it waits for the host.
    running_since: Option<Instant>,
    next_check: Instant,
    /// The processor time at which it is killed, once it was seen to be late.
    last_chance: Option<Duration>,
    /// Until when the answer is looked for without sleeping.
    patient_until: Instant,
}

/// The host's side: what was called and not answered yet.
struct Pending<'a> {
    host: Option<&'a dyn HostFunctions>,
    names: &'a [String],
    calls: FuturesUnordered<BoxFuture<'a, (u32, Result<Json, HostError>)>>,
    /// Answers that the worker has not asked for yet.
    answers: VecDeque<(u32, Result<Json, HostError>)>,
}

/// Permission to use the processor. Given back while the guest waits for the host, so that a call
/// made by a host function can never wait for the one that made it, and by guests that take long,
/// so that quick ones need not wait for them while there are places beside.
pub(crate) struct Turn {
    pub(crate) turns: Arc<Semaphore>,
    /// Places beside the turns, for guests that take long.
    pub(crate) aside: Arc<Semaphore>,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
    pub(crate) is_aside: bool,
}

impl Turn {
    /// Makes room for others if there is a place beside; the system shares the processors among all
    /// who run.
    fn step_aside(&mut self) {
        if self.permit.is_some()
            && !self.is_aside
            && let Ok(place) = Arc::clone(&self.aside).try_acquire_owned()
        {
            (self.permit, self.is_aside) = (Some(place), true);
        }
    }

    fn end(&mut self) {
        (self.permit, self.is_aside) = (None, false);
    }
}

impl<'a> Conversation<'a> {
    /// A request that is yet to be sent. If it is `alone`, a processor has nothing better to do
    /// than to wait for it: to be woken takes about as long as a small call.
    pub(crate) fn new(
        worker: &'a mut Worker,
        request: Vec<u8>,
        limits: &'a Limits,
        alone: bool,
    ) -> io::Result<Self> {
        worker.watch()?;
        let now = Instant::now();
        Ok(Conversation {
            cpu_before: worker.cpu_time().unwrap_or_default(),
            worker,
            outgoing: request,
            sent: 0,
            limits,
            log: Vec::new(),
            // The worker counts as the guest does; here a cap against lies is enough.
            log_left: limits.log + CUT.len() + SLACK,
            wall_used: Duration::ZERO,
            running_since: Some(now),
            next_check: now + (limits.cpu + GRACE).min(limits.wall).min(LONG),
            last_chance: None,
            patient_until: if alone { now + PATIENCE } else { now },
        })
    }

    /// Goes on until the worker has answered.
    pub(crate) async fn finish(
        &mut self,
        host: Option<&dyn HostFunctions>,
        names: &[String],
        turn: &mut Turn,
    ) -> Result<Answer, Error> {
        let mut pending =
            Pending { host, names, calls: FuturesUnordered::new(), answers: VecDeque::new() };
        let mut next_turn: Option<BoxFuture<'static, Option<OwnedSemaphorePermit>>> = None;
        self.write_some().map_err(|error| self.died(&error))?;
        while self.sent == self.outgoing.len() && Instant::now() < self.patient_until {
            match read_chunk(&self.worker.socket, &mut self.worker.incoming) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    pause();
                    // Others of this runtime go on meanwhile.
                    tokio::task::yield_now().await;
                }
                // Whatever it is, it is taken or told below.
                _ => break,
            }
        }
        loop {
            while let Some((kind, body)) = self.next_frame().map_err(|error| self.died(&error))? {
                if let Some(answer) = self.take(kind, body, &mut pending)? {
                    return Ok(answer);
                }
            }
            if self.running_since.is_none() {
                if pending.answers.is_empty() {
                    turn.end();
                } else if turn.permit.is_some() {
                    self.pass_on(&mut pending)?;
                } else if next_turn.is_none() {
                    let turns = Arc::clone(&turn.turns);
                    next_turn = Some(Box::pin(async move { turns.acquire_owned().await.ok() }));
                }
            }
            let next_check = self.next_check;
            tokio::select! {
                biased;
                moved = move_bytes(self.worker, &self.outgoing, &mut self.sent) => {
                    moved.map_err(|error| self.died(&error))?;
                    // A worker that never stops talking must not talk itself out of this.
                    if Instant::now() >= next_check {
                        self.look(turn)?;
                    }
                }
                Some(answer) = pending.calls.next(), if !pending.calls.is_empty() => {
                    pending.answers.push_back(answer);
                }
                permit = async { next_turn.as_mut().expect("looked at before").await }, if next_turn.is_some() => {
                    next_turn = None;
                    turn.permit = permit;
                }
                () = tokio::time::sleep_until(next_check) => self.look(turn)?,
            }
        }
    }

    fn write_some(&mut self) -> io::Result<()> {
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

    fn next_frame(&mut self) -> io::Result<Option<(Kind, Vec<u8>)>> {
        let cap = self.limits.output.max(BYTECODE).max(FAILURE) + SLACK;
        let Some((kind, end)) = wire::first(&self.worker.incoming, cap)? else { return Ok(None) };
        let rest = self.worker.incoming.split_off(end);
        let frame = std::mem::replace(&mut self.worker.incoming, rest);
        Ok(Some((kind, frame)))
    }

    /// Takes one frame, head included; an answer ends the conversation.
    fn take(
        &mut self,
        kind: Kind,
        frame: Vec<u8>,
        pending: &mut Pending,
    ) -> Result<Option<Answer>, Error> {
        let odd = |_| nonsense();
        let mut body = Body(&frame[HEAD..]);
        match kind {
            // Who answers before the question is over has not listened.
            Kind::Done | Kind::Compiled | Kind::Failed if self.sent == self.outgoing.len() => {
                let cpu = Duration::from_nanos(body.u64().map_err(odd)?);
                let memory = body.u64().map_err(odd)? as usize;
                let mut frame = frame;
                frame.drain(..HEAD + 16);
                return Ok(Some(Answer { kind, cpu, memory, body: frame }));
            }
            Kind::Log => {
                let level = Level::of(body.u8().map_err(odd)?);
                let cost = body.0.len() + 16;
                self.log_left = self.log_left.checked_sub(cost).ok_or_else(nonsense)?;
                let text = String::from_utf8_lossy(body.0).into_owned();
                self.log.push(LogLine { level, text });
            }
            Kind::HostCall => pending.called(&mut body, self.limits).map_err(odd)?,
            Kind::Waiting if !pending.calls.is_empty() || !pending.answers.is_empty() => {
                self.pause()
            }
            _ => return Err(nonsense()),
        }
        Ok(None)
    }

    fn pause(&mut self) {
        if let Some(since) = self.running_since.take() {
            self.wall_used += since.elapsed();
        }
    }

    /// Gives the worker an answer it waits for.
    fn pass_on(&mut self, pending: &mut Pending) -> Result<(), Error> {
        let Some((id, answer)) = pending.answers.pop_front() else { return Ok(()) };
        let (is_ok, json) = match answer.and_then(|json| fit(json, self.limits)) {
            Ok(json) => (true, json),
            Err(HostError { message, mut fields }) => {
                fields.insert("message".to_owned(), Json::String(message));
                (false, Json::Object(fields).to_string())
            }
        };
        let mut frame = Frame::new(Kind::HostReply);
        frame.u32(id).u8(u8::from(is_ok)).terminated(json.as_bytes());
        self.outgoing.drain(..self.sent);
        self.sent = 0;
        self.outgoing.extend(frame.finish().map_err(|error| died(&error))?);
        let now = Instant::now();
        self.running_since = Some(now);
        // Nothing is known to be late yet; the next look decides when to look again.
        self.next_check = now + GRACE;
        self.write_some().map_err(|error| self.died(&error))
    }

    /// Looks after a guest that does not end: kills it if it overruns, lets others pass if it takes
    /// long, and says when to look again.
    fn look(&mut self, turn: &mut Turn) -> Result<(), Error> {
        let used = self.check_time()?;
        if used >= LONG {
            turn.step_aside();
        }
        if turn.permit.is_some() && !turn.is_aside {
            let left = LONG.checked_sub(used).unwrap_or(LONG).max(Duration::from_millis(1));
            self.next_check = self.next_check.min(Instant::now() + left);
        }
        Ok(())
    }

    /// Kills a guest that overruns, or tells how much of the processor it used.
    fn check_time(&mut self) -> Result<Duration, Error> {
        let wall =
            self.wall_used + self.running_since.map_or(Duration::ZERO, |since| since.elapsed());
        if wall >= self.limits.wall {
            let message = format!(
                "the program did not end within {:?} on the clock",
                whole(self.limits.wall)
            );
            return Err(Error::new(Code::Timeout, message));
        }
        // Without its clock the processor's time is at most that on the wall.
        let used = self.worker.cpu_time().map_or(wall, |now| now.saturating_sub(self.cpu_before));
        let mut deadline = self.last_chance.unwrap_or(self.limits.cpu + GRACE);
        if used >= deadline {
            if self.last_chance.is_some() {
                let mut error = Error::new(
                    Code::Timeout,
                    "the program used up its time and its worker was killed",
                );
                error.cpu = used;
                return Err(error);
            }
            deadline = used + LAST_GRACE;
            self.last_chance = Some(deadline);
        }
        let left = (deadline - used).max(Duration::from_millis(1));
        let left =
            if self.running_since.is_some() { left.min(self.limits.wall - wall) } else { left };
        self.next_check = Instant::now() + left;
        Ok(used)
    }

    fn died(&mut self, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::InvalidData {
            return died(error);
        }
        match self.worker.status() {
            Some(status) => Error::new(
                Code::WorkerDied,
                format!("the worker ended in the middle of the call ({status})"),
            ),
            None => died(error),
        }
    }
}

fn died(error: &io::Error) -> Error {
    Error::new(Code::WorkerDied, format!("the worker ended in the middle of the call: {error}"))
}

/// Reads what is there, and waits if there is nothing; meanwhile writes what is left of `outgoing`.
/// Can be dropped at any time without losing a byte.
async fn move_bytes(worker: &mut Worker, outgoing: &[u8], sent: &mut usize) -> io::Result<()> {
    let (ready, mut socket, incoming) = worker.parts();
    loop {
        tokio::select! {
            biased;
            guard = ready.readable() => match read_chunk(socket, incoming) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard?.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            },
            guard = ready.writable(), if *sent < outgoing.len() => match socket.write(&outgoing[*sent..]) {
                Ok(count) => *sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard?.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            },
        }
    }
}

fn read_chunk(mut socket: &UnixStream, incoming: &mut Vec<u8>) -> io::Result<usize> {
    let filled = incoming.len();
    incoming.resize(filled + CHUNK, 0);
    let read = socket.read(&mut incoming[filled..]);
    incoming.truncate(filled + *read.as_ref().unwrap_or(&0));
    read
}

impl Pending<'_> {
    fn called(&mut self, body: &mut Body, limits: &Limits) -> io::Result<()> {
        let (id, index) = (body.u32()?, body.u32()?);
        let (Some(host), Some(name)) = (self.host, self.names.get(index as usize)) else {
            return Err(wire::bad("a host function that does not exist"));
        };
        let is_too_much = self.calls.len() + self.answers.len() >= MAX_HOST_CALLS;
        if is_too_much {
            return Err(wire::bad("more than a guest may ask of the host"));
        }
        bear(body.0, limits)?;
        let arguments = serde_json::from_slice(body.0)?;
        let answer = host.call(name, arguments);
        self.calls.push(Box::pin(async move { (id, answer.await) }));
        Ok(())
    }
}

/// Refuses JSON that would take too much memory when it is read: the worker is not trusted to have
/// counted.
fn bear(json: &[u8], limits: &Limits) -> io::Result<()> {
    if json.len() > limits.output || parts(json) > max_parts(limits.output) {
        return Err(wire::bad("more than a guest may say"));
    }
    Ok(())
}

/// An answer as JSON, if it may go in.
fn fit(json: Json, limits: &Limits) -> Result<String, HostError> {
    if !is_shallow(&json, MAX_DEPTH) {
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

/// Whether there are at most `depth` levels.
pub(crate) fn is_shallow(json: &Json, depth: usize) -> bool {
    match json {
        Json::Array(items) => depth > 0 && items.iter().all(|item| is_shallow(item, depth - 1)),
        Json::Object(members) => {
            depth > 0 && members.values().all(|member| is_shallow(member, depth - 1))
        }
        _ => true,
    }
}

impl Answer {
    /// The bytecode that was asked for.
    pub(crate) fn program(self) -> Result<Vec<u8>, Error> {
        if self.kind == Kind::Compiled { Ok(self.body) } else { Err(nonsense()) }
    }

    /// The result that was asked for.
    pub(crate) fn result(&self, limits: &Limits) -> Result<Json, Error> {
        if self.kind != Kind::Done {
            return Err(nonsense());
        }
        bear(&self.body, limits).map_err(|_| nonsense())?;
        serde_json::from_slice(&self.body).map_err(|_| nonsense())
    }

    /// The failure that the worker tells; nonsense if it tells none.
    pub(crate) fn failure(&self) -> Result<Error, Error> {
        let told = (self.body.len() <= FAILURE).then(|| Failure::from_json(&self.body)).flatten();
        let mut error = told.ok_or_else(nonsense)?;
        error.cpu = self.cpu;
        Ok(error)
    }
}

fn nonsense() -> Error {
    Error::new(Code::WorkerDied, "the worker spoke nonsense and was killed")
}

/// The first frame of a worker: its greeting.
pub(crate) async fn greeting(worker: &mut Worker, cap: usize) -> io::Result<Vec<u8>> {
    worker.watch()?;
    loop {
        if let Some((kind, end)) = wire::first(&worker.incoming, cap)? {
            let body = worker.incoming.drain(..end).skip(HEAD).collect();
            return if kind == Kind::Hello { Ok(body) } else { Err(wire::bad("no greeting")) };
        }
        move_bytes(worker, &[], &mut 0).await?;
    }
}
