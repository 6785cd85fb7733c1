//! The state of one call that callbacks of the engine need: its clock, its log, and its channel to
//! the parent. The engine holds a pointer to it while a guest runs (`runtime`), so everything that
//! changes is in cells.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use super::engine::{JsContext, JsResult, JsValue, JsValueKind};
use super::failure::GuestFailure;
use super::heap::GuestHeap;
use crate::error::SandboxErrorCode;
use crate::limits::MAX_HOST_CALLS;
use crate::protocol::{FRAME_HEADER, FrameKind, FrameReader, FrameWriter, invalid_data};

/// The last text of a log that reached its limit.
pub(crate) const LOG_CUT: &str = "… [log cut here]";
/// What a line costs beside its text, so that a flood of empty lines is limited, too. The parent
/// counts the same.
pub(crate) const LOG_LINE_COST: usize = 16;

/// The connection to the parent: a socket in a worker, memory in measurements.
pub(crate) trait ParentChannel {
    /// Sends a complete frame.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;
    /// Waits for the next frame. Returns its kind, and its bytes including the header.
    fn receive(&mut self) -> io::Result<(FrameKind, Vec<u8>)>;
}

/// The two functions that settle the promise of a call to the host.
struct HostPromise {
    resolve: rquickjs_sys::JSValue,
    reject: rquickjs_sys::JSValue,
}

/// The number of a call for which the guest stands still. There is at most one at a time.
const SYNCHRONOUS_CALL: u32 = u32::MAX;

/// The answer of a host function.
pub(super) struct HostReply {
    /// The number of the call.
    pub(super) id: u32,
    pub(super) is_ok: bool,
    /// The value or the properties of the error, with a NUL behind it.
    pub(super) json: Vec<u8>,
}

/// The state of one call.
pub(super) struct GuestCallState<'l> {
    channel: RefCell<&'l mut dyn ParentChannel>,
    /// The number of the request, which every frame about it carries.
    number: u64,
    heap: *mut GuestHeap,
    /// The processor time of the process when the call arrived.
    started: Duration,
    /// The limit of processor time.
    pub(super) cpu_limit: Duration,
    /// Whether the deadline has passed. Once set it stays, so that every later look agrees.
    is_late: Cell<bool>,
    /// The engine must collect cycles before this many bytes are in use, because garbage counts
    /// against the limit until then.
    pub(super) collect_before: Cell<usize>,
    log_left: Cell<usize>,
    /// Whether the input is still being loaded: a lack of memory is then not the program's fault.
    pub(super) is_loading: Cell<bool>,
    /// Bytes that the arguments of a call to the host may have.
    pub(super) output_limit: usize,
    /// `Boolean.prototype.valueOf`, saved before the guest could replace it: the only way to read
    /// the value of a `Boolean` object.
    value_of_boolean: Cell<rquickjs_sys::JSValue>,
    /// `JSON.isRawJSON`, saved for the same reason.
    is_raw_json: Cell<rquickjs_sys::JSValue>,
    /// Calls to the host by number; `None` once they are answered.
    host_promises: RefCell<Vec<Option<HostPromise>>>,
    /// Answers to promises that came while the guest stood still for another call.
    early_replies: RefCell<VecDeque<HostReply>>,
    /// Set when the channel failed, so that no answer can be sent.
    pub(super) channel_error: RefCell<Option<io::Error>>,
}

impl<'l> GuestCallState<'l> {
    /// # Safety
    /// `heap` outlives the state and is used by this thread alone.
    pub(super) unsafe fn new(
        channel: &'l mut dyn ParentChannel,
        number: u64,
        heap: *mut GuestHeap,
        started: Duration,
        cpu_limit: Duration,
        output_limit: usize,
        log_limit: usize,
    ) -> GuestCallState<'l> {
        GuestCallState {
            channel: RefCell::new(channel),
            number,
            heap,
            started,
            cpu_limit,
            is_late: Cell::new(false),
            collect_before: Cell::new(usize::MAX),
            log_left: Cell::new(log_limit),
            is_loading: Cell::new(false),
            output_limit,
            value_of_boolean: Cell::new(rquickjs_sys::JS_UNDEFINED),
            is_raw_json: Cell::new(rquickjs_sys::JS_UNDEFINED),
            host_promises: RefCell::default(),
            early_replies: RefCell::default(),
            channel_error: RefCell::default(),
        }
    }

    /// The guest's memory. The reference must not be kept while the engine runs.
    pub(super) fn heap(&self) -> &GuestHeap {
        // SAFETY: guaranteed by the caller of `new`. The engine changes the heap only inside of
        // its allocation functions, which never lead here.
        unsafe { &*self.heap }
    }

    /// Processor time of the call so far.
    pub(super) fn cpu(&self) -> Duration {
        worker_cpu_time().saturating_sub(self.started)
    }

    /// Whether the processor time is used up.
    pub(super) fn is_late(&self) -> bool {
        if !self.is_late.get() {
            self.is_late.set(self.cpu() >= self.cpu_limit);
        }
        self.is_late.get()
    }

    /// Whether the guest must be stopped.
    pub(super) fn must_stop(&self) -> bool {
        self.channel_error.borrow().is_some() || self.is_late()
    }

    /// Reports that the guest's memory is used up, and ends the process. Called by the heap in the
    /// middle of an allocation, so neither heap nor engine may be used here.
    pub(super) fn report_refusal_and_exit(&self) -> ! {
        let failure = if self.is_loading.get() {
            let message = "the input takes too much memory";
            GuestFailure::new(SandboxErrorCode::InputTooLarge, message)
        } else {
            let message = "the program used up its memory";
            GuestFailure::new(SandboxErrorCode::MemoryLimit, message)
        };
        // The channel is never borrowed while the engine allocates.
        if let (Ok(mut channel), Ok(answer)) = (
            self.channel.try_borrow_mut(),
            super::answer_frame(self.number, FrameKind::Done, Err(failure), self.cpu(), 0),
        ) {
            // If the parent is gone, the exit is all that is left to do.
            let _ = channel.send(&answer);
        }
        // SAFETY: ends the process without running any code of it. Nothing has to be cleaned up:
        // a worker owns nothing but memory and a socket.
        unsafe { libc::_exit(1) }
    }

    /// Sends a frame. An error ends the guest at the engine's next look (`must_stop`).
    fn send(&self, frame: FrameWriter) {
        let sent = frame.finish().and_then(|bytes| self.channel.borrow_mut().send(&bytes));
        if let Err(error) = sent {
            *self.channel_error.borrow_mut() = Some(error);
        }
    }

    /// Saves built-in functions that are needed after the guest may have replaced them.
    pub(super) fn save_builtins(&self, js: JsContext) -> JsResult<()> {
        let value_of = js.global().get_str("Boolean")?.get_str("prototype")?.get_str("valueOf")?;
        self.value_of_boolean.set(value_of.into_raw());
        self.is_raw_json.set(js.global().get_str("JSON")?.get_str("isRawJSON")?.into_raw());
        Ok(())
    }

    /// The value of a `Boolean` object.
    pub(super) fn unbox_boolean<'r>(&self, boxed: &JsValue<'r>) -> JsResult<JsValue<'r>> {
        // SAFETY: `save_builtins` took the function from the same runtime and never releases it.
        let value_of = unsafe { boxed.js().share(self.value_of_boolean.get()) };
        value_of.call(boxed, &[])
    }

    /// Whether `JSON.rawJSON` made the object.
    pub(super) fn is_raw_json(&self, object: &JsValue) -> JsResult<bool> {
        let js = object.js();
        // SAFETY: as in `unbox_boolean`.
        let is_raw_json = unsafe { js.share(self.is_raw_json.get()) };
        Ok(is_raw_json.call(&js.undefined(), &[object])?.kind() == JsValueKind::Bool(true))
    }

    /// Bytes for which the log still has room.
    pub(super) fn log_left(&self) -> usize {
        self.log_left.get()
    }

    /// Sends a line to the log. If it does not fit, a part of it is the last line.
    pub(super) fn log(&self, level: u8, text: &str) {
        let left = self.log_left.get();
        if left == 0 {
            return;
        }
        let cost = text.len() + LOG_LINE_COST;
        if cost <= left {
            self.log_left.set(left - cost);
            return self.send_log_line(level, text);
        }
        self.log_left.set(0);
        let text = format!("{}{LOG_CUT}", &text[..text.floor_char_boundary(left)]);
        self.send_log_line(level, &text);
    }

    fn send_log_line(&self, level: u8, text: &str) {
        let mut frame = FrameWriter::of_request(FrameKind::Log, self.number);
        frame.u8(level).rest(text.as_bytes());
        self.send(frame);
    }

    /// Calls the host function with index `function`. Its answer will settle the promise of these
    /// two functions. Returns `false`, without calling, if too many calls are in progress.
    pub(super) fn call_host(
        &self,
        function: u32,
        arguments: &[u8],
        resolve: JsValue,
        reject: JsValue,
    ) -> bool {
        let id = {
            let mut promises = self.host_promises.borrow_mut();
            if promises.iter().flatten().count() >= MAX_HOST_CALLS {
                return false;
            }
            promises
                .push(Some(HostPromise { resolve: resolve.into_raw(), reject: reject.into_raw() }));
            promises.len() - 1
        };
        self.send_host_call(id as u32, function, arguments);
        true
    }

    fn send_host_call(&self, id: u32, function: u32, arguments: &[u8]) {
        let mut frame = FrameWriter::of_request(FrameKind::HostCall, self.number);
        frame.u32(id).u32(function).rest(arguments);
        self.send(frame);
    }

    /// Calls the host function with index `function` and waits for its answer. Answers to other
    /// calls that come before are kept. `None` if the parent is gone.
    pub(super) fn call_host_and_wait(&self, function: u32, arguments: &[u8]) -> Option<HostReply> {
        self.send_host_call(SYNCHRONOUS_CALL, function, arguments);
        while self.channel_error.borrow().is_none() {
            match self.receive_host_reply() {
                Ok(reply) if reply.id == SYNCHRONOUS_CALL => return Some(reply),
                Ok(reply) => self.early_replies.borrow_mut().push_back(reply),
                Err(error) => *self.channel_error.borrow_mut() = Some(error),
            }
        }
        None
    }

    /// Whether any call to the host is not answered yet.
    pub(super) fn awaits_host(&self) -> bool {
        self.host_promises.borrow().iter().any(Option::is_some)
    }

    /// Tells the parent that the guest cannot go on, which stops its wall clock, and waits for the
    /// next frame.
    fn wait_for_host(&self) -> io::Result<(FrameKind, Vec<u8>)> {
        let mut channel = self.channel.borrow_mut();
        channel.send(&FrameWriter::of_request(FrameKind::Waiting, self.number).finish()?)?;
        channel.receive()
    }

    /// Waits for the next answer of a host function.
    fn receive_host_reply(&self) -> io::Result<HostReply> {
        let (kind, frame) = self.wait_for_host()?;
        let mut body = FrameReader(&frame[FRAME_HEADER..]);
        if kind != FrameKind::HostReply {
            return Err(invalid_data("a frame that is not the answer of a host function"));
        }
        Ok(HostReply { id: body.u32()?, is_ok: body.u8()? == 1, json: body.bytes()?.to_vec() })
    }

    /// The next answer to a promise: one that is here already, or the next to come.
    pub(super) fn next_host_reply(&self) -> io::Result<HostReply> {
        let early = self.early_replies.borrow_mut().pop_front();
        early.map_or_else(|| self.receive_host_reply(), Ok)
    }

    /// The functions that fulfil and reject the promise of call `id`, if it is not settled yet.
    pub(super) fn take_host_promise<'r>(
        &self,
        js: JsContext<'r>,
        id: u32,
    ) -> Option<(JsValue<'r>, JsValue<'r>)> {
        let promise = self.host_promises.borrow_mut().get_mut(id as usize)?.take()?;
        // SAFETY: `call_host` took both over from this runtime, and they leave the list once.
        unsafe { Some((js.adopt(promise.resolve), js.adopt(promise.reject))) }
    }
}

/// Processor time that this process has used since it started. Read from the clock of its only
/// thread: that of the process advances in steps of milliseconds once its parent has set a limit of
/// processor time.
pub(super) fn worker_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes into `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
