//! The globals that a guest sees beside the language: `console`, `module`, `exports` and the host
//! functions. They are native functions; their callbacks find the state of the call through the
//! context (`runtime::enter` puts it there).

use std::ffi::c_int;

use rquickjs_sys as qjs;

use super::call_state::GuestCallState;
use super::engine::{JsContext, JsResult, JsValue, JsValueKind, PendingException};
use super::json_writer::{GuestJsonWriter, JsonWriteError, number_text};

/// Globals that come with typed arrays and make sense only between several threads.
const REMOVED: [&str; 2] = ["SharedArrayBuffer", "Atomics"];
/// The functions of `console`, in the order of `LogLevel`.
const CONSOLE_FUNCTIONS: [&str; 5] = ["log", "info", "warn", "error", "debug"];
/// Bytes of JSON up to which an object is shown in the log.
const MAX_OBJECT_IN_LOG: usize = 16 << 10;
/// Flags of properties that programs may change and delete, but do not find when they enumerate.
pub(super) const HIDDEN: u32 = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE;

/// Removes and defines globals. Returns the object `module`, from which the exports are read after
/// the program has run: the program may replace the global, but not this object.
pub(super) fn install<'r>(js: JsContext<'r>) -> JsResult<JsValue<'r>> {
    let global = js.global();
    for name in REMOVED {
        global.delete(name)?;
    }
    let console = js.object()?;
    for (level, name) in CONSOLE_FUNCTIONS.iter().enumerate() {
        console.define(name, native_function(js, console_callback, level as c_int)?, HIDDEN)?;
    }
    global.define("console", console, HIDDEN)?;
    let (module, exports) = (js.object()?, js.object()?);
    // SAFETY: both values are live and of this runtime.
    let (shared_exports, shared_module) =
        unsafe { (js.share(exports.raw()), js.share(module.raw())) };
    // As in Node: `exports` and `module.exports` are the same object at first. All of them are
    // hidden, so that a program that enumerates its globals finds only its own.
    global.define("exports", shared_exports, HIDDEN)?;
    module.define("exports", exports, HIDDEN | qjs::JS_PROP_ENUMERABLE)?;
    global.define("module", shared_module, HIDDEN)?;
    Ok(module)
}

/// Defines host functions under their dotted names: `tools.call` becomes a property of the global
/// object `tools`, which is made if it does not exist. Those whose byte in `is_synchronous` is 1
/// return their answer, the others a promise.
pub(super) fn install_host_functions(
    js: JsContext,
    names: &[&str],
    is_synchronous: &[u8],
) -> JsResult<()> {
    for (index, name) in names.iter().enumerate() {
        let callback: EngineCallback = match is_synchronous.get(index) {
            Some(1) => synchronous_host_callback,
            _ => host_callback,
        };
        let mut owner = js.global();
        let mut parts = name.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                owner.define(part, native_function(js, callback, index as c_int)?, HIDDEN)?;
                break;
            }
            // Host functions may share an object, and may extend one that exists.
            let mut next = owner.get_str(part)?;
            if !next.is_object() {
                let made = js.object()?;
                // SAFETY: the value is live and of this runtime.
                next = unsafe { js.share(made.raw()) };
                owner.define(part, made, HIDDEN)?;
            }
            owner = next;
        }
    }
    Ok(())
}

/// The signature of a native function: context, `this`, number of arguments, arguments, the number
/// that `native_function` was given, and data that is not used here.
type EngineCallback = unsafe extern "C" fn(
    *mut qjs::JSContext,
    qjs::JSValue,
    c_int,
    *mut qjs::JSValue,
    c_int,
    *mut qjs::JSValue,
) -> qjs::JSValue;

/// A function of the guest that calls `callback`. The engine passes `magic` on to it, so that
/// several functions can share a callback.
fn native_function<'r>(
    js: JsContext<'r>,
    callback: EngineCallback,
    magic: c_int,
) -> JsResult<JsValue<'r>> {
    // SAFETY: the engine calls `callback` with arguments of the declared types.
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

/// Throws an `Error` with this message in the guest.
pub(super) fn throw_error(js: JsContext, message: &str) -> PendingException {
    let error = js.error().and_then(|error| {
        error.define("message", js.string(message)?, HIDDEN)?;
        Ok(error)
    });
    match error {
        Ok(error) => js.throw(error),
        Err(PendingException) => PendingException,
    }
}

/// The context of a callback, the state of its call, and its arguments.
///
/// # Safety
/// The engine passed `context`, `count` and `arguments` to a callback that has not returned.
unsafe fn callback_arguments<'r, 's>(
    context: *mut qjs::JSContext,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> (JsContext<'r>, &'s GuestCallState<'s>, Vec<JsValue<'r>>) {
    // SAFETY: guaranteed by the caller. `runtime::enter` stored the state in the context before any
    // code ran, and the state is borrowed until no code runs any more.
    unsafe {
        let js = JsContext::new(context);
        let state = &*qjs::JS_GetContextOpaque(context).cast::<GuestCallState>();
        let values = (0..count as usize).map(|index| js.share(*arguments.add(index))).collect();
        (js, state, values)
    }
}

/// The functions of `console`; `level` is the position in `CONSOLE_FUNCTIONS`.
unsafe extern "C" fn console_callback(
    context: *mut qjs::JSContext,
    _: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    level: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: these are the arguments that the engine passed.
    let (js, state, values) = unsafe { callback_arguments(context, count, arguments) };
    let mut line = String::new();
    for (index, value) in values.iter().enumerate() {
        // The log cuts what is beyond its room, so there is no use in making more text.
        if line.len() > state.log_left() || state.must_stop() {
            break;
        }
        if index > 0 {
            line.push(' ');
        }
        line.push_str(&log_text(value, state));
    }
    // A guest whose time is up does not log any more.
    if !state.must_stop() {
        state.log(level as u8, &line);
        // A getter may have thrown while its object was shown. Logging must not fail for that.
        drop(js.take_exception());
    }
    qjs::JS_UNDEFINED
}

/// A value in the log: strings as they are, errors as `name: message`, objects as JSON.
fn log_text(value: &JsValue, state: &GuestCallState) -> String {
    // One byte more than there is room for, so that the log notices that it cuts.
    let room = state.log_left() + 1;
    let text = |value: &JsValue| {
        value
            .with_text(|text| text[..text.floor_char_boundary(room)].to_owned())
            .unwrap_or_default()
    };
    match value.kind() {
        JsValueKind::String => text(value),
        JsValueKind::Undefined => "undefined".to_owned(),
        JsValueKind::BigInt => "[BigInt]".to_owned(),
        JsValueKind::Symbol => "[symbol]".to_owned(),
        JsValueKind::Number(value) => number_text(value),
        JsValueKind::Object if value.is_function() => "[function]".to_owned(),
        JsValueKind::Object if value.is_error() => {
            value.to_js_string().map(|value| text(&value)).unwrap_or_default()
        }
        _ => match GuestJsonWriter::write_for_log(value, MAX_OBJECT_IN_LOG, state) {
            Ok(json) => String::from_utf8(json).unwrap_or_default(),
            Err(JsonWriteError::TooLarge) => "[object too long to show]".to_owned(),
            Err(_) => format!("[{}]", value.class_name().unwrap_or_default()),
        },
    }
}

/// The host functions that return promises; `function` is the index in the request.
unsafe extern "C" fn host_callback(
    context: *mut qjs::JSContext,
    _: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    function: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: these are the arguments that the engine passed.
    let (js, state, values) = unsafe { callback_arguments(context, count, arguments) };
    match call_host(js, state, &values, function as u32) {
        Ok(promise) => promise.into_raw(),
        Err(PendingException) => qjs::JS_EXCEPTION,
    }
}

/// The host functions that return their answer; `function` is the index in the request.
unsafe extern "C" fn synchronous_host_callback(
    context: *mut qjs::JSContext,
    _: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    function: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: these are the arguments that the engine passed.
    let (js, state, values) = unsafe { callback_arguments(context, count, arguments) };
    match call_host_and_wait(js, state, &values, function as u32) {
        Ok(answer) => answer.into_raw(),
        Err(PendingException) => qjs::JS_EXCEPTION,
    }
}

/// The arguments of a call to the host, as JSON. Throws if they are not.
fn arguments_as_json<'r>(
    js: JsContext<'r>,
    state: &GuestCallState,
    arguments: &[JsValue<'r>],
) -> JsResult<Vec<u8>> {
    let json = GuestJsonWriter::write_arguments(js, arguments, state);
    json.map_err(|(argument, error)| match error {
        JsonWriteError::Threw => PendingException,
        JsonWriteError::NotJson { what, .. } => {
            throw_error(js, &format!("argument {argument} is {what}"))
        }
        JsonWriteError::TooManyParts => {
            throw_error(js, "the arguments have more parts than allowed")
        }
        JsonWriteError::TooLarge | JsonWriteError::TimeUp => {
            throw_error(js, "the arguments are larger than allowed")
        }
    })
}

/// Sends a call to the parent and waits for its answer, which is returned or thrown.
fn call_host_and_wait<'r>(
    js: JsContext<'r>,
    state: &GuestCallState,
    arguments: &[JsValue<'r>],
    function: u32,
) -> JsResult<JsValue<'r>> {
    let json = arguments_as_json(js, state, arguments)?;
    // The engine ends a guest whose parent is gone at its next look.
    let reply = state
        .call_host_and_wait(function, &json)
        .ok_or_else(|| throw_error(js, "the parent is gone"))?;
    let value = super::reply_value(js, &reply)?;
    if reply.is_ok { Ok(value) } else { Err(js.throw(value)) }
}

/// Sends a call to the parent. Returns the promise that its answer will settle.
fn call_host<'r>(
    js: JsContext<'r>,
    state: &GuestCallState,
    arguments: &[JsValue<'r>],
    function: u32,
) -> JsResult<JsValue<'r>> {
    let json = arguments_as_json(js, state, arguments)?;
    let (promise, resolve, reject) = js.promise()?;
    if state.call_host(function, &json, resolve, reject) {
        return Ok(promise);
    }
    let message = format!("more than {} calls are waiting for the host", crate::MAX_HOST_CALLS);
    Err(throw_error(js, &message))
}
