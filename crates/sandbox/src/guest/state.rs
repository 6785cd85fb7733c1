//! What belongs to one call and is reached from the engine's callbacks: its time, its log, its way
//! to the host.

use std::cell::{Cell, RefCell};
use std::io;
use std::time::Duration;

use super::failure::Failure;
use super::heap::Heap;
use super::js::{Js, Outcome, Value};
use crate::limits::MAX_HOST_CALLS;
use crate::wire::{Frame, Kind};

/// The other end: the parent's socket, or whoever drives a guest without one.
pub(crate) trait Link {
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;
    /// The next frame: its kind, and its bytes with their head.
    fn receive(&mut self) -> io::Result<(Kind, Vec<u8>)>;
    /// Ends this process, if it is there for the guest alone.
    fn end(&mut self) {}
}

/// What a guest waits for: the functions of a promise.
struct Awaited {
    resolve: rquickjs_sys::JSValue,
    reject: rquickjs_sys::JSValue,
}

/// One call.
pub(super) struct State<'l> {
    link: RefCell<&'l mut dyn Link>,
    heap: *mut Heap,
    started: Duration,
    pub(super) limit: Duration,
    /// Whether the deadline has passed; it stays passed.
    late: Cell<bool>,
    /// Cycles must be collected before this many bytes are in use: the limit does not know what is
    /// garbage.
    pub(super) collect_at: Cell<usize>,
    log_left: Cell<usize>,
    /// Whether the guest's own code has not begun.
    pub(super) is_loading: Cell<bool>,
    pub(super) output: usize,
    /// `Boolean.prototype.valueOf`, from before the guest could touch it: only the engine knows
    /// what such an object holds.
    value_of_boolean: Cell<rquickjs_sys::JSValue>,
    awaited: RefCell<Vec<Option<Awaited>>>,
    /// The link broke: there is nobody to work for.
    pub(super) broken: RefCell<Option<io::Error>>,
}

impl<'l> State<'l> {
    /// # Safety
    /// `heap` outlives the state and is used by this thread alone.
    pub(super) unsafe fn new(
        link: &'l mut dyn Link,
        heap: *mut Heap,
        started: Duration,
        limit: Duration,
        output: usize,
        log: usize,
    ) -> State<'l> {
        State {
            link: RefCell::new(link),
            heap,
            started,
            limit,
            late: Cell::new(false),
            collect_at: Cell::new(usize::MAX),
            log_left: Cell::new(log),
            is_loading: Cell::new(false),
            output,
            value_of_boolean: Cell::new(rquickjs_sys::JS_UNDEFINED),
            awaited: RefCell::default(),
            broken: RefCell::default(),
        }
    }

    /// The guest's memory. Not to be kept across anything that runs the engine.
    pub(super) fn heap(&self) -> &Heap {
        // SAFETY: `new`'s; the engine, which changes the heap, is not in the middle of doing so
        // when it calls us.
        unsafe { &*self.heap }
    }

    pub(super) fn cpu(&self) -> Duration {
        cpu_time().saturating_sub(self.started)
    }

    pub(super) fn is_late(&self) -> bool {
        if !self.late.get() {
            self.late.set(self.cpu() >= self.limit);
        }
        self.late.get()
    }

    /// Whether the guest must not run on.
    pub(super) fn is_over(&self) -> bool {
        self.heap().exceeded() || self.broken.borrow().is_some() || self.is_late()
    }

    /// Says why there is no result, and ends the worker: the engine does not survive a refusal
    /// unharmed. Where it runs out of memory while it compiles, it goes on with what happens to lie
    /// behind its buffers. The heap, which is in the middle of refusing, is not looked at here.
    pub(super) fn refused(&self) {
        let failure = if self.is_loading.get() {
            Failure::input_too_large()
        } else {
            Failure::out_of_memory()
        };
        let Ok(mut link) = self.link.try_borrow_mut() else { std::process::abort() };
        if let Ok(bytes) = super::reply(Kind::Done, Some(Err(failure)), self.cpu(), 0) {
            // Whether anybody hears it or not.
            let _ = link.send(&bytes);
        }
        link.end();
    }

    fn send(&self, frame: Frame) {
        let sent = frame.finish().and_then(|bytes| self.link.borrow_mut().send(&bytes));
        if let Err(error) = sent {
            *self.broken.borrow_mut() = Some(error);
        }
    }

    /// Remembers what the guest may change.
    pub(super) fn keep(&self, js: Js) -> Outcome<()> {
        let value_of = js.global().get_str("Boolean")?.get_str("prototype")?.get_str("valueOf")?;
        self.value_of_boolean.set(value_of.give_away());
        Ok(())
    }

    /// What a `Boolean` object holds.
    pub(super) fn unboxed<'r>(&self, boxed: &Value<'r>) -> Outcome<Value<'r>> {
        // SAFETY: `keep` was given it by the same runtime, and nobody gives it back.
        let value_of = unsafe { boxed.js().share(self.value_of_boolean.get()) };
        value_of.call(boxed, &[])
    }

    /// Bytes that the log still has room for.
    pub(super) fn log_left(&self) -> usize {
        self.log_left.get()
    }

    /// Sends a line to the log, as far as there is room for it.
    pub(super) fn log(&self, level: u8, text: &str) {
        let left = self.log_left.get();
        if left == 0 {
            return;
        }
        // A line costs something even if it is empty.
        let cost = text.len() + 16;
        if cost <= left {
            self.log_left.set(left - cost);
            return self.send_line(level, text);
        }
        self.log_left.set(0);
        self.send_line(level, &format!("{}{CUT}", &text[..text.floor_char_boundary(left)]));
    }

    fn send_line(&self, level: u8, text: &str) {
        let mut frame = Frame::new(Kind::Log);
        frame.u8(level).rest(text.as_bytes());
        self.send(frame);
    }

    /// Calls a host function; the answer will settle the promise of these two functions. `false`:
    /// too many are answering.
    pub(super) fn call_host(
        &self,
        name: u32,
        arguments: &[u8],
        resolve: Value,
        reject: Value,
    ) -> bool {
        let id = {
            let mut awaited = self.awaited.borrow_mut();
            if awaited.iter().flatten().count() >= MAX_HOST_CALLS {
                return false;
            }
            awaited
                .push(Some(Awaited { resolve: resolve.give_away(), reject: reject.give_away() }));
            awaited.len() - 1
        };
        let mut frame = Frame::new(Kind::HostCall);
        frame.u32(id as u32).u32(name).rest(arguments);
        self.send(frame);
        true
    }

    pub(super) fn awaits_host(&self) -> bool {
        self.awaited.borrow().iter().any(Option::is_some)
    }

    /// Waits until a host function has answered.
    pub(super) fn wait(&self) -> io::Result<(Kind, Vec<u8>)> {
        let mut link = self.link.borrow_mut();
        link.send(&Frame::new(Kind::Waiting).finish()?)?;
        link.receive()
    }

    /// The functions that settle the promise of call `id`: fulfil, reject.
    pub(super) fn take_awaited<'r>(&self, js: Js<'r>, id: u32) -> Option<(Value<'r>, Value<'r>)> {
        let awaited = self.awaited.borrow_mut().get_mut(id as usize)?.take()?;
        // SAFETY: both were given to us, by this runtime, and are taken out once.
        unsafe { Some((js.adopt(awaited.resolve), js.adopt(awaited.reject))) }
    }
}

/// Stands where a log was cut.
pub(crate) const CUT: &str = "… [log cut here]";

/// The processor time of this process.
pub(super) fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
