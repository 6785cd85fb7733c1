//! A fresh world for one call: a runtime in an empty heap, the language without what could reach
//! outside or tell time finely, and what is lent to the program.

use std::ffi::{c_int, c_void};
use std::io;

use rquickjs_sys as qjs;

use super::heap::{self, Heap};
use super::js::{Js, Kind, Outcome, Pending, Value};
use super::json::{Unwritten, Writer, number};
use super::state::State;
use crate::error::REFUSED;

/// What the engine brings and the sandbox takes away. What is not in the list of intrinsics below
/// is never made: `performance`, `WeakRef`, `FinalizationRegistry`, `DOMException`, `atob`.
const REMOVED: [&str; 2] = ["SharedArrayBuffer", "Atomics"];
const LEVELS: [&str; 5] = ["log", "info", "warn", "error", "debug"];
/// Objects are shown in the log up to this many bytes of JSON.
const SHOWN: usize = 16 << 10;
/// Own properties that programs may change but not stumble over.
pub(super) const HIDDEN: u32 = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE;

/// A realm in which nothing has run yet. It fills its heap, and is good for one call.
pub(super) struct Fresh {
    /// Boxed and ours; the engine has this pointer too.
    heap: *mut Heap,
    /// Null if there was no memory for it.
    context: *mut qjs::JSContext,
}

impl Fresh {
    /// The first realm.
    pub(super) fn new() -> io::Result<Fresh> {
        let heap = Box::into_raw(Box::new(Heap::reserve()?));
        let mut fresh = Fresh { heap, context: std::ptr::null_mut() };
        fresh.renew();
        Ok(fresh)
    }

    /// Forgets all memory of the realm.
    pub(super) fn clear(&mut self) {
        self.context = std::ptr::null_mut();
        // SAFETY: the engine is not running. Nothing of the realm is left outside of it (see
        // `enter`), so clearing the heap ends it as a whole.
        unsafe { (*self.heap).clear() };
    }

    /// Makes another realm. Half of what a small call takes, so it is done while nobody waits: when
    /// the answer is on its way. It always takes the same, so the next call, whose clock may be
    /// running already, pays for no other.
    pub(super) fn renew(&mut self) {
        self.clear();
        // SAFETY: the heap is empty and stays in place; the engine runs on this thread alone.
        self.context = unsafe {
            let runtime = qjs::JS_NewRuntime2(&heap::FUNCTIONS, self.heap.cast());
            if runtime.is_null() {
                std::ptr::null_mut()
            } else {
                qjs::JS_SetModuleLoaderFunc(
                    runtime,
                    Some(refuse_import),
                    None,
                    std::ptr::null_mut(),
                );
                context(runtime).unwrap_or(std::ptr::null_mut())
            }
        };
    }

    /// The memory that the realm is in.
    pub(super) fn heap(&self) -> *mut Heap {
        self.heap
    }

    /// Runs `inside` in the realm, which must be renewed afterwards. `None`: there was no memory
    /// for a realm.
    pub(super) fn enter<T>(
        &mut self,
        state: &State,
        stack: usize,
        inside: impl for<'r> FnOnce(Js<'r>) -> T,
    ) -> Option<T> {
        let context = std::mem::replace(&mut self.context, std::ptr::null_mut());
        if context.is_null() {
            return None;
        }
        // SAFETY: the context is of a realm that nothing has run in, and is given away here:
        // nothing will again. `inside` works for any `'r`, so nothing of the realm is in what it
        // returns. The state is behind the opaque pointers for as long as anything runs.
        unsafe {
            let runtime = qjs::JS_GetRuntime(context);
            // The depth is counted from here.
            qjs::JS_UpdateStackTop(runtime);
            qjs::JS_SetMaxStackSize(runtime, stack as qjs::size_t);
            let opaque: *mut c_void = std::ptr::from_ref(state).cast_mut().cast();
            qjs::JS_SetInterruptHandler(runtime, Some(interrupt), opaque);
            qjs::JS_SetContextOpaque(context, opaque);
            (*self.heap).set_witness(Some((refused, opaque)));
            let outcome = inside(Js::new(context));
            (*self.heap).set_witness(None);
            Some(outcome)
        }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // SAFETY: it came out of a box, and whatever is in it ends with it.
        drop(unsafe { Box::from_raw(self.heap) });
    }
}

/// # Safety
/// `runtime` is valid.
unsafe fn context(runtime: *mut qjs::JSRuntime) -> Option<*mut qjs::JSContext> {
    // SAFETY: the caller's; a context that could not be completed is not used.
    unsafe {
        let context = qjs::JS_NewContextRaw(runtime);
        if context.is_null()
            || qjs::JS_AddIntrinsicBaseObjects(context) < 0
            || qjs::JS_AddIntrinsicDate(context) < 0
            || qjs::JS_AddIntrinsicEval(context) < 0
            || qjs::JS_AddIntrinsicRegExp(context) < 0
            || qjs::JS_AddIntrinsicJSON(context) < 0
            || qjs::JS_AddIntrinsicProxy(context) < 0
            || qjs::JS_AddIntrinsicMapSet(context) < 0
            || qjs::JS_AddIntrinsicTypedArrays(context) < 0
            || qjs::JS_AddIntrinsicPromise(context) < 0
        {
            return None;
        }
        Some(context)
    }
}

/// Takes away what must not be there and lends `console`. Gives `module`, which is lent too.
pub(super) fn furnish<'r>(js: Js<'r>) -> Outcome<Value<'r>> {
    let global = js.global();
    for name in REMOVED {
        global.delete(name)?;
    }
    let console = js.object()?;
    for (level, name) in LEVELS.iter().enumerate() {
        console.define(name, function(js, console_line, level as c_int)?, HIDDEN)?;
    }
    global.define("console", console, HIDDEN)?;
    let (module, exports) = (js.object()?, js.object()?);
    // SAFETY: both values are live and of this realm.
    let (shared_exports, shared_module) =
        unsafe { (js.share(exports.raw()), js.share(module.raw())) };
    global.define("exports", shared_exports, HIDDEN)?;
    module.define("exports", exports, HIDDEN | qjs::JS_PROP_ENUMERABLE)?;
    global.define("module", shared_module, HIDDEN)?;
    Ok(module)
}

/// Lends host functions under their dotted names: `tools.call` is a property of the global object
/// `tools`.
pub(super) fn lend_host_functions(js: Js, names: &[&str]) -> Outcome<()> {
    for (index, name) in names.iter().enumerate() {
        let mut owner = js.global();
        let mut steps = name.split('.').peekable();
        while let Some(step) = steps.next() {
            if steps.peek().is_none() {
                owner.define(step, function(js, call_host, index as c_int)?, HIDDEN)?;
                break;
            }
            let mut next = owner.get_str(step)?;
            if !next.is_object() {
                let made = js.object()?;
                // SAFETY: the value is live and of this realm.
                next = unsafe { js.share(made.raw()) };
                owner.define(step, made, HIDDEN)?;
            }
            owner = next;
        }
    }
    Ok(())
}

type Callback = unsafe extern "C" fn(
    *mut qjs::JSContext,
    qjs::JSValue,
    c_int,
    *mut qjs::JSValue,
    c_int,
    *mut qjs::JSValue,
) -> qjs::JSValue;

fn function<'r>(js: Js<'r>, callback: Callback, magic: c_int) -> Outcome<Value<'r>> {
    // SAFETY: the engine calls `callback` with what its type says.
    unsafe {
        js.outcome(qjs::JS_NewCFunctionData(
            js.raw(),
            Some(callback),
            0,
            magic,
            0,
            std::ptr::null_mut(),
        ))
    }
}

/// Throws a plain error with this message.
fn throw(js: Js, message: &str) -> Pending {
    let error = js.error().and_then(|error| {
        error.define("message", js.string(message)?, HIDDEN)?;
        Ok(error)
    });
    match error {
        Ok(error) => js.throw(error),
        Err(Pending) => Pending,
    }
}

/// The call that a context works for, and the arguments of a callback.
///
/// # Safety
/// `context` was given to a callback by the engine, with `count` arguments.
unsafe fn callback<'r, 's>(
    context: *mut qjs::JSContext,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> (Js<'r>, &'s State<'s>, Vec<Value<'r>>) {
    // SAFETY: `enter` puts the state there before anything can run, and it outlives the realm.
    unsafe {
        let js = Js::new(context);
        let state = &*qjs::JS_GetContextOpaque(context).cast::<State>();
        let values = (0..count as usize).map(|index| js.share(*arguments.add(index))).collect();
        (js, state, values)
    }
}

/// # Safety
/// `opaque` is the state that `enter` was given.
unsafe fn refused(opaque: *const c_void) {
    // SAFETY: the caller's.
    unsafe { &*opaque.cast::<State>() }.refused();
}

unsafe extern "C" fn interrupt(runtime: *mut qjs::JSRuntime, opaque: *mut c_void) -> c_int {
    // SAFETY: `enter` gave the state, which outlives the realm; the runtime is the one that calls.
    let state = unsafe { &*opaque.cast::<State>() };
    let collect_at = state.collect_at.get() as qjs::size_t;
    // SAFETY: as above. The engine puts the next collection off by half of what is in use, which
    // may be beyond the limit.
    unsafe {
        if qjs::JS_GetGCThreshold(runtime) > collect_at {
            qjs::JS_SetGCThreshold(runtime, collect_at);
        }
    }
    c_int::from(state.is_over())
}

/// Called to make sense of the name of every import, of whatever kind, before anything is looked
/// up.
unsafe extern "C" fn refuse_import(
    context: *mut qjs::JSContext,
    _: *const std::ffi::c_char,
    name: *const std::ffi::c_char,
    _: *mut c_void,
) -> *mut std::ffi::c_char {
    // SAFETY: the engine gives a name that ends in a NUL.
    let (js, name) =
        unsafe { (Js::new(context), std::ffi::CStr::from_ptr(name).to_string_lossy()) };
    let short: String = name.chars().take(128).collect();
    throw(js, &format!("`{short}{REFUSED}"));
    std::ptr::null_mut()
}

unsafe extern "C" fn console_line(
    context: *mut qjs::JSContext,
    _: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    level: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine calls us with what it says.
    let (js, state, values) = unsafe { callback(context, count, arguments) };
    let mut line = String::new();
    for (index, value) in values.iter().enumerate() {
        // What is beyond the log's room is cut anyway.
        if line.len() > state.log_left() || state.is_over() {
            break;
        }
        if index > 0 {
            line.push(' ');
        }
        line.push_str(&shown(value, state));
    }
    // Who is to run no more has no more to say either.
    if !state.is_over() {
        state.log(level as u8, &line);
        // A getter that threw while its object was shown is nobody's business but the log's.
        drop(js.take_exception());
    }
    qjs::JS_UNDEFINED
}

/// A value in the log: text as it is, everything else as JSON where there is some.
fn shown(value: &Value, state: &State) -> String {
    // A little more than there is room for, so that the cut is seen.
    let room = state.log_left() + 1;
    let text = |value: &Value| {
        value
            .with_text(|text| text[..text.floor_char_boundary(room)].to_owned())
            .unwrap_or_default()
    };
    match value.kind() {
        Kind::String => text(value),
        Kind::Undefined => "undefined".to_owned(),
        Kind::BigInt | Kind::Symbol => {
            format!("[{}]", if value.kind() == Kind::BigInt { "BigInt" } else { "symbol" })
        }
        Kind::Number(value) => number(value),
        Kind::Object if value.is_function() => "[function]".to_owned(),
        Kind::Object if value.is_error() => {
            value.to_js_string().map(|value| text(&value)).unwrap_or_default()
        }
        _ => match Writer::show(value, SHOWN, state) {
            Ok(json) => String::from_utf8(json).unwrap_or_default(),
            Err(Unwritten::TooLarge) => "[object too long to show]".to_owned(),
            Err(_) => format!("[{}]", value.class_name().unwrap_or_default()),
        },
    }
}

unsafe extern "C" fn call_host(
    context: *mut qjs::JSContext,
    _: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    name: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine calls us with what it says.
    let (js, state, values) = unsafe { callback(context, count, arguments) };
    match promised(js, state, &values, name as u32) {
        Ok(promise) => promise.give_away(),
        Err(Pending) => qjs::JS_EXCEPTION,
    }
}

fn promised<'r>(
    js: Js<'r>,
    state: &State,
    arguments: &[Value<'r>],
    name: u32,
) -> Outcome<Value<'r>> {
    let json = arguments_json(js, state, arguments)?;
    let (promise, resolve, reject) = js.promise()?;
    if state.call_host(name, &json, resolve, reject) {
        Ok(promise)
    } else {
        Err(throw(
            js,
            &format!("more than {} calls are waiting for the host", crate::MAX_HOST_CALLS),
        ))
    }
}

/// The arguments as a JSON array.
fn arguments_json<'r>(js: Js<'r>, state: &State, arguments: &[Value<'r>]) -> Outcome<Vec<u8>> {
    Writer::write_arguments(js, arguments, state).map_err(|(argument, unwritten)| match unwritten {
        Unwritten::Threw => Pending,
        Unwritten::NotJson { what, .. } => throw(js, &format!("argument {argument} is {what}")),
        Unwritten::TooManyParts => throw(js, "the arguments have more parts than allowed"),
        Unwritten::TooLarge | Unwritten::Late => throw(js, "the arguments are larger than allowed"),
    })
}
