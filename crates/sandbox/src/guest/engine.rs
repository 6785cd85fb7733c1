//! Owned handles for values of the engine, and the engine's functions as methods on them.
//!
//! QuickJS counts references. Its C interface says for each function whether it takes over, returns
//! or only borrows a reference; here the types say it: a [`JsValue`] owns one reference and gives
//! it back when it is dropped. The lifetime `'r` ties every handle to the runtime it belongs to.
//! A function that fails leaves an exception in the engine and returns [`PendingException`].
//!
//! Nothing here decides what a guest may do. This file, the heap, `runtime` and `globals` are the
//! only ones that call the engine.

use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr;

use rquickjs_sys as qjs;

/// How many proxies of proxies are followed to find out whether the target is an array: a guest
/// can nest them as it likes.
const MAX_PROXIES: usize = 1000;

unsafe extern "C" {
    /// A function that the engine exports for its own command line and that `rquickjs-sys` does
    /// not declare. It is the only way to find out where a value was thrown that is not an `Error`.
    fn js_std_cmd(command: c_int, ...) -> usize;
}

/// Command: returns the stack of the last exception that no `catch` has seen, and forgets it.
const ERROR_BACK_TRACE: c_int = 2;

/// Says that an exception is pending in the engine. Callers either pass it on or take it out with
/// [`JsContext::take_exception`].
#[derive(Debug)]
pub(super) struct PendingException;

/// A value or a pending exception.
pub(super) type JsResult<T> = Result<T, PendingException>;

/// Text with a NUL behind it, for the engine's parsers, which read one byte beyond the end. The
/// text itself may contain NULs.
#[derive(Clone, Copy)]
pub(super) struct NulTerminated<'a>(&'a [u8]);

impl<'a> NulTerminated<'a> {
    /// `None` if the last byte is not a NUL.
    pub(super) fn new(bytes: &'a [u8]) -> Option<NulTerminated<'a>> {
        (bytes.last() == Some(&0)).then_some(NulTerminated(bytes))
    }

    /// Start and length, without the NUL.
    fn parts(self) -> (*const std::ffi::c_char, qjs::size_t) {
        (self.0.as_ptr().cast(), (self.0.len() - 1) as qjs::size_t)
    }
}

/// A context in which code runs: the engine's handle for global object and built-in functions.
/// There is one per runtime, and it is valid as long as the runtime.
#[derive(Clone, Copy)]
pub(super) struct JsContext<'r> {
    context: *mut qjs::JSContext,
    runtime: PhantomData<&'r ()>,
}

/// A value of the engine, and one reference to it.
pub(super) struct JsValue<'r> {
    raw: qjs::JSValue,
    js: JsContext<'r>,
}

/// An interned string, which the engine uses for names of properties, and one reference to it.
pub(super) struct JsAtom<'r> {
    raw: qjs::JSAtom,
    js: JsContext<'r>,
}

/// The names of an object's own properties, in a table that the engine allocated.
pub(super) struct JsPropertyNames<'r> {
    table: *mut qjs::JSPropertyEnum,
    count: u32,
    js: JsContext<'r>,
}

/// The type of a value, with its content if that fits into a register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum JsValueKind {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String,
    Symbol,
    BigInt,
    /// Anything with properties: lists, functions and errors, too.
    Object,
    /// A tag that values of a program never have.
    Internal,
}

impl<'r> JsContext<'r> {
    /// # Safety
    /// `context` is valid for as long as `'r`, and used by this thread alone.
    pub(super) unsafe fn new(context: *mut qjs::JSContext) -> JsContext<'r> {
        JsContext { context, runtime: PhantomData }
    }

    /// The pointer for functions of the engine that have no method here.
    pub(super) fn raw(self) -> *mut qjs::JSContext {
        self.context
    }

    fn runtime(self) -> *mut qjs::JSRuntime {
        // SAFETY: the context is valid (`new`).
        unsafe { qjs::JS_GetRuntime(self.context) }
    }

    /// Takes over a reference.
    ///
    /// # Safety
    /// `raw` belongs to this runtime, and its reference is not used or released elsewhere.
    pub(super) unsafe fn adopt(self, raw: qjs::JSValue) -> JsValue<'r> {
        JsValue { raw, js: self }
    }

    /// Takes over the reference that a function of the engine returned, or its exception.
    ///
    /// # Safety
    /// As for `adopt`; if `raw` is the exception tag, an exception is pending.
    pub(super) unsafe fn outcome(self, raw: qjs::JSValue) -> JsResult<JsValue<'r>> {
        // SAFETY: the first function only reads the tag; the rest is guaranteed by the caller.
        unsafe {
            if qjs::JS_IsException(raw) { Err(PendingException) } else { Ok(self.adopt(raw)) }
        }
    }

    /// Another reference to a value that stays owned by its holder.
    ///
    /// # Safety
    /// `raw` is a live value of this runtime.
    pub(super) unsafe fn share(self, raw: qjs::JSValue) -> JsValue<'r> {
        // SAFETY: guaranteed by the caller; the engine counts a new reference, which is ours.
        unsafe { self.adopt(qjs::JS_DupValue(self.context, raw)) }
    }

    pub(super) fn undefined(self) -> JsValue<'r> {
        JsValue { raw: qjs::JS_UNDEFINED, js: self }
    }

    pub(super) fn global(self) -> JsValue<'r> {
        // SAFETY: the context is valid; the engine returns a new reference.
        unsafe { self.adopt(qjs::JS_GetGlobalObject(self.context)) }
    }

    /// A new object without properties.
    pub(super) fn object(self) -> JsResult<JsValue<'r>> {
        // SAFETY: as in `global`.
        unsafe { self.outcome(qjs::JS_NewObject(self.context)) }
    }

    pub(super) fn string(self, text: &str) -> JsResult<JsValue<'r>> {
        // SAFETY: the engine copies `text.len()` bytes.
        unsafe {
            self.outcome(qjs::JS_NewStringLen(
                self.context,
                text.as_ptr().cast(),
                text.len() as qjs::size_t,
            ))
        }
    }

    /// A new `Error` without a message.
    pub(super) fn error(self) -> JsResult<JsValue<'r>> {
        // SAFETY: as in `global`.
        unsafe { self.outcome(qjs::JS_NewError(self.context)) }
    }

    pub(super) fn atom(self, name: &str) -> JsResult<JsAtom<'r>> {
        // SAFETY: the engine copies `name.len()` bytes. It returns 0 if it fails.
        let raw = unsafe {
            qjs::JS_NewAtomLen(self.context, name.as_ptr().cast(), name.len() as qjs::size_t)
        };
        if raw == 0 { Err(PendingException) } else { Ok(JsAtom { raw, js: self }) }
    }

    /// Parses JSON. All text that comes here was written by `serde_json`.
    pub(super) fn parse_json(self, text: NulTerminated) -> JsResult<JsValue<'r>> {
        let (start, length) = text.parts();
        // SAFETY: a NUL lies behind the text, as the parser requires.
        unsafe { self.outcome(qjs::JS_ParseJSON(self.context, start, length, c"input".as_ptr())) }
    }

    /// Compiles source text, and runs it unless `flags` contain `JS_EVAL_FLAG_COMPILE_ONLY`.
    pub(super) fn eval(
        self,
        source: NulTerminated,
        file: &CStr,
        flags: u32,
    ) -> JsResult<JsValue<'r>> {
        let (start, length) = source.parts();
        // SAFETY: a NUL lies behind the source, as the parser requires.
        unsafe {
            self.outcome(qjs::JS_Eval(self.context, start, length, file.as_ptr(), flags as i32))
        }
    }

    /// The bytecode of a script or module that was compiled.
    pub(super) fn write_bytecode(self, program: &JsValue<'r>) -> JsResult<Vec<u8>> {
        let mut length: qjs::size_t = 0;
        // SAFETY: the engine returns a buffer of `length` bytes, or null and an exception. The
        // buffer is freed once, after it was copied.
        unsafe {
            let flags = qjs::JS_WRITE_OBJ_BYTECODE as i32;
            let bytes = qjs::JS_WriteObject(self.context, &mut length, program.raw, flags);
            if bytes.is_null() {
                return Err(PendingException);
            }
            let copy = std::slice::from_raw_parts(bytes, length as usize).to_vec();
            qjs::js_free(self.context, bytes.cast());
            Ok(copy)
        }
    }

    /// Loads bytecode.
    ///
    /// # Safety
    /// The bytes were written by `write_bytecode` of the same version: the engine does not verify
    /// them.
    pub(super) unsafe fn read_bytecode(self, bytes: &[u8]) -> JsResult<JsValue<'r>> {
        let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.outcome(qjs::JS_ReadObject(
                self.context,
                bytes.as_ptr(),
                bytes.len() as qjs::size_t,
                flags,
            ))
        }
    }

    /// Runs a script or module that was loaded. Returns the value of the script, or the promise of
    /// the module.
    pub(super) fn run(self, program: JsValue<'r>) -> JsResult<JsValue<'r>> {
        let raw = program.into_raw();
        // SAFETY: the engine takes over the reference.
        unsafe { self.outcome(qjs::JS_EvalFunction(self.context, raw)) }
    }

    /// Resolves the imports of a module, which fails if it has any.
    pub(super) fn resolve_module(self, module: &JsValue<'r>) -> JsResult<()> {
        // SAFETY: the value is a module.
        if unsafe { qjs::JS_ResolveModule(self.context, module.raw) } < 0 {
            Err(PendingException)
        } else {
            Ok(())
        }
    }

    /// The engine collects cycles once this many bytes are in use. After a collection it raises the
    /// threshold to one and a half times what is still in use.
    pub(super) fn set_collection_threshold(self, bytes: usize) {
        // SAFETY: the runtime is valid.
        unsafe { qjs::JS_SetGCThreshold(self.runtime(), bytes as qjs::size_t) };
    }

    /// Whether a promise job is waiting to run.
    pub(super) fn is_job_pending(self) -> bool {
        // SAFETY: the runtime is valid.
        unsafe { qjs::JS_IsJobPending(self.runtime()) }
    }

    /// Runs the next promise job.
    pub(super) fn run_one_job(self) -> JsResult<()> {
        let mut context = ptr::null_mut();
        // SAFETY: the engine writes the context of the job, which is always ours: the runtime has
        // no other.
        if unsafe { qjs::JS_ExecutePendingJob(self.runtime(), &mut context) } < 0 {
            Err(PendingException)
        } else {
            Ok(())
        }
    }

    /// Takes the pending exception out of the engine; `None` if there is none.
    pub(super) fn take_exception(self) -> Option<JsValue<'r>> {
        // SAFETY: the engine hands its reference over.
        unsafe {
            if !qjs::JS_HasException(self.context) {
                return None;
            }
            Some(self.adopt(qjs::JS_GetException(self.context)))
        }
    }

    /// The stack of the last exception, as text. It may belong to an earlier exception that a
    /// promise swallowed, or to an error that was created and not thrown.
    pub(super) fn take_trace(self) -> Option<JsValue<'r>> {
        let mut trace = qjs::JS_UNDEFINED;
        // SAFETY: the command takes a context and a pointer, to which it writes a value whose
        // reference it hands over.
        let trace = unsafe {
            js_std_cmd(ERROR_BACK_TRACE, self.context, &raw mut trace);
            self.adopt(trace)
        };
        (trace.kind() == JsValueKind::String).then_some(trace)
    }

    /// Makes `value` the pending exception.
    pub(super) fn throw(self, value: JsValue<'r>) -> PendingException {
        // SAFETY: the engine takes over the reference.
        unsafe { qjs::JS_Throw(self.context, value.into_raw()) };
        PendingException
    }

    /// A promise, and the functions that fulfil and reject it.
    pub(super) fn promise(self) -> JsResult<(JsValue<'r>, JsValue<'r>, JsValue<'r>)> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        // SAFETY: if the engine returns a promise, it has written references to both functions.
        unsafe {
            let promise =
                self.outcome(qjs::JS_NewPromiseCapability(self.context, functions.as_mut_ptr()))?;
            Ok((promise, self.adopt(functions[0]), self.adopt(functions[1])))
        }
    }
}

impl<'r> JsValue<'r> {
    pub(super) fn js(&self) -> JsContext<'r> {
        self.js
    }

    /// The value without its reference.
    pub(super) fn raw(&self) -> qjs::JSValue {
        self.raw
    }

    /// Hands the reference over: the caller, or the engine, must release it.
    pub(super) fn into_raw(self) -> qjs::JSValue {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    pub(super) fn kind(&self) -> JsValueKind {
        // SAFETY: reads the tag, and then the field of the union that belongs to the tag.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(self.raw) {
                qjs::JS_TAG_INT => JsValueKind::Number(f64::from(qjs::JS_VALUE_GET_INT(self.raw))),
                qjs::JS_TAG_FLOAT64 => JsValueKind::Number(qjs::JS_VALUE_GET_FLOAT64(self.raw)),
                qjs::JS_TAG_BOOL => JsValueKind::Bool(qjs::JS_VALUE_GET_BOOL(self.raw)),
                qjs::JS_TAG_UNDEFINED | qjs::JS_TAG_UNINITIALIZED => JsValueKind::Undefined,
                qjs::JS_TAG_NULL => JsValueKind::Null,
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => JsValueKind::String,
                qjs::JS_TAG_SYMBOL => JsValueKind::Symbol,
                qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => JsValueKind::BigInt,
                qjs::JS_TAG_OBJECT => JsValueKind::Object,
                _ => JsValueKind::Internal,
            }
        }
    }

    pub(super) fn is_object(&self) -> bool {
        self.kind() == JsValueKind::Object
    }

    pub(super) fn is_function(&self) -> bool {
        // SAFETY: the value is live while we hold a reference, here and below.
        unsafe { qjs::JS_IsFunction(self.js.context, self.raw) }
    }

    /// Whether it is an `Error` of the engine. The guest cannot fake that with properties.
    pub(super) fn is_error(&self) -> bool {
        // SAFETY: reads the class of a live value.
        unsafe { qjs::JS_IsError(self.raw) }
    }

    /// Whether it is an array, or a proxy of one.
    pub(super) fn is_array(&self) -> bool {
        // SAFETY: reads classes of live values; the engine returns a new reference to a target.
        unsafe {
            if !self.is_proxy() {
                return qjs::JS_IsArray(self.raw);
            }
            let mut target = self.js.outcome(qjs::JS_GetProxyTarget(self.js.context, self.raw));
            for _ in 0..MAX_PROXIES {
                match target {
                    Ok(value) if value.is_proxy() => {
                        target =
                            self.js.outcome(qjs::JS_GetProxyTarget(self.js.context, value.raw));
                    }
                    Ok(value) => return qjs::JS_IsArray(value.raw),
                    // A revoked proxy. Reading a property of it will throw.
                    Err(PendingException) => break,
                }
            }
            drop(self.js.take_exception());
            false
        }
    }

    pub(super) fn is_proxy(&self) -> bool {
        // SAFETY: reads the class of a live value.
        unsafe { qjs::JS_IsProxy(self.raw) }
    }

    /// The state of a promise; `None` if the value is not a promise.
    pub(super) fn promise_state(&self) -> Option<JsPromiseState<'r>> {
        // SAFETY: the value is live; the engine returns a new reference to the result.
        unsafe {
            if !qjs::JS_IsPromise(self.raw) {
                return None;
            }
            let result = || self.js.adopt(qjs::JS_PromiseResult(self.js.context, self.raw));
            Some(match qjs::JS_PromiseState(self.js.context, self.raw) {
                qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => JsPromiseState::Fulfilled(result()),
                qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => JsPromiseState::Rejected(result()),
                _ => JsPromiseState::Pending,
            })
        }
    }

    /// The engine's name for the class of an object, such as `Map` or `RegExp`, which the guest
    /// cannot change.
    pub(super) fn class_name(&self) -> Option<String> {
        // SAFETY: reads the class of a live object; the engine returns a new reference to the atom.
        unsafe {
            let atom = qjs::JS_GetClassName(self.js.runtime(), qjs::JS_GetClassID(self.raw));
            if atom == 0 {
                return None;
            }
            JsAtom { raw: atom, js: self.js }.text().ok()
        }
    }

    /// The address of an object, as its identity: two live objects never share one.
    pub(super) fn address(&self) -> usize {
        // SAFETY: the pointer is only converted, not followed.
        unsafe { qjs::JS_VALUE_GET_PTR(self.raw) as usize }
    }

    /// Reads a property. May run code of the guest, as may the next two.
    pub(super) fn get(&self, name: &JsAtom<'r>) -> JsResult<JsValue<'r>> {
        // SAFETY: object and name are live.
        unsafe { self.js.outcome(qjs::JS_GetProperty(self.js.context, self.raw, name.raw)) }
    }

    pub(super) fn get_str(&self, name: &str) -> JsResult<JsValue<'r>> {
        self.get(&self.js.atom(name)?)
    }

    pub(super) fn get_index(&self, index: i64) -> JsResult<JsValue<'r>> {
        // SAFETY: the value is live.
        unsafe { self.js.outcome(qjs::JS_GetPropertyInt64(self.js.context, self.raw, index)) }
    }

    /// The property `length` as a number. May run code of the guest.
    pub(super) fn length(&self) -> JsResult<i64> {
        let mut length = 0;
        // SAFETY: the value is live.
        let result = unsafe { qjs::JS_GetLength(self.js.context, self.raw, &mut length) };
        if result < 0 { Err(PendingException) } else { Ok(length) }
    }

    /// Defines an own property, with `JS_PROP_*` flags.
    pub(super) fn define(&self, name: &str, value: JsValue<'r>, flags: u32) -> JsResult<()> {
        let atom = self.js.atom(name)?;
        // SAFETY: object and name are live; the engine takes over the reference to the value.
        let result = unsafe {
            let raw = value.into_raw();
            qjs::JS_DefinePropertyValue(self.js.context, self.raw, atom.raw, raw, flags as i32)
        };
        if result < 0 { Err(PendingException) } else { Ok(()) }
    }

    /// Whether the object or its prototypes may have a property. Runs no code unless a prototype is
    /// a proxy; an object that is one may have any property.
    pub(super) fn has(&self, name: &str) -> JsResult<bool> {
        if self.is_proxy() {
            return Ok(true);
        }
        let atom = self.js.atom(name)?;
        // SAFETY: object and name are live.
        match unsafe { qjs::JS_HasProperty(self.js.context, self.raw, atom.raw) } {
            result if result < 0 => Err(PendingException),
            result => Ok(result != 0),
        }
    }

    pub(super) fn delete(&self, name: &str) -> JsResult<()> {
        let atom = self.js.atom(name)?;
        // SAFETY: object and name are live.
        let result = unsafe { qjs::JS_DeleteProperty(self.js.context, self.raw, atom.raw, 0) };
        if result < 0 { Err(PendingException) } else { Ok(()) }
    }

    /// The value of an own property, and whether it can be enumerated. `None` if there is no such
    /// property, or if it has a getter. Runs no code unless the object is a proxy.
    pub(super) fn own_data(&self, name: &JsAtom<'r>) -> JsResult<Option<(JsValue<'r>, bool)>> {
        let undefined = qjs::JS_UNDEFINED;
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: undefined,
            getter: undefined,
            setter: undefined,
        };
        // SAFETY: if the engine returns 1, it has filled in the descriptor with new references.
        unsafe {
            match qjs::JS_GetOwnProperty(self.js.context, &mut found, self.raw, name.raw) {
                0 => return Ok(None),
                1 => {}
                _ => return Err(PendingException),
            }
            let value = self.js.adopt(found.value);
            drop((self.js.adopt(found.getter), self.js.adopt(found.setter)));
            let is_accessor = found.flags as u32 & qjs::JS_PROP_TMASK == qjs::JS_PROP_GETSET;
            let is_enumerable = found.flags as u32 & qjs::JS_PROP_ENUMERABLE != 0;
            Ok((!is_accessor).then_some((value, is_enumerable)))
        }
    }

    /// The names of the enumerable own properties, in the order of the language, without symbols.
    pub(super) fn property_names(&self) -> JsResult<JsPropertyNames<'r>> {
        let (mut table, mut count) = (ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
        // SAFETY: if the engine does not fail, it has allocated the table, which `JsPropertyNames`
        // frees.
        let result = unsafe {
            qjs::JS_GetOwnPropertyNames(self.js.context, &mut table, &mut count, self.raw, flags)
        };
        if result < 0 {
            Err(PendingException)
        } else {
            Ok(JsPropertyNames { table, count, js: self.js })
        }
    }

    /// Calls a function.
    pub(super) fn call(
        &self,
        this: &JsValue<'r>,
        arguments: &[&JsValue<'r>],
    ) -> JsResult<JsValue<'r>> {
        let mut raw: Vec<qjs::JSValue> = arguments.iter().map(|argument| argument.raw).collect();
        // SAFETY: function, `this` and arguments are live during the call; the engine borrows them.
        unsafe {
            let count = raw.len() as i32;
            let value = qjs::JS_Call(self.js.context, self.raw, this.raw, count, raw.as_mut_ptr());
            self.js.outcome(value)
        }
    }

    /// Converts the value to a string. May run code of the guest.
    pub(super) fn to_js_string(&self) -> JsResult<JsValue<'r>> {
        // SAFETY: the value is live.
        unsafe { self.js.outcome(qjs::JS_ToString(self.js.context, self.raw)) }
    }

    /// Converts the value to a number. May run code of the guest.
    pub(super) fn to_number(&self) -> JsResult<f64> {
        let mut number = 0.0;
        // SAFETY: the value is live; the engine writes the number.
        let result = unsafe { qjs::JS_ToFloat64(self.js.context, &mut number, self.raw) };
        if result < 0 { Err(PendingException) } else { Ok(number) }
    }

    /// Calls `read` with the text of a string, without copying it if it is valid UTF-8. Lone
    /// surrogates become U+FFFD.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> JsResult<T> {
        let mut length: qjs::size_t = 0;
        // SAFETY: the engine returns `length` bytes, which stay valid until they are freed below.
        unsafe {
            let bytes = qjs::JS_ToCStringLen2(self.js.context, &mut length, self.raw, false);
            if bytes.is_null() {
                return Err(PendingException);
            }
            let text = well_formed(std::slice::from_raw_parts(bytes.cast(), length as usize));
            let result = read(&text);
            qjs::JS_FreeCString(self.js.context, bytes);
            Ok(result)
        }
    }

    /// A copy of the text of a string.
    pub(super) fn text(&self) -> JsResult<String> {
        self.with_text(str::to_owned)
    }

    /// The namespace object of a module that was evaluated: its exports.
    pub(super) fn module_namespace(&self) -> JsResult<JsValue<'r>> {
        // SAFETY: the value is a module (callers pass nothing else), which the context keeps.
        unsafe {
            let module = qjs::JS_VALUE_GET_PTR(self.raw).cast();
            self.js.outcome(qjs::JS_GetModuleNamespace(self.js.context, module))
        }
    }
}

/// The state of a promise, with its result.
pub(super) enum JsPromiseState<'r> {
    Pending,
    Fulfilled(JsValue<'r>),
    Rejected(JsValue<'r>),
}

impl<'r> JsAtom<'r> {
    /// Calls `read` with the name, and with whether the text is exact: lone surrogates are replaced
    /// by U+FFFD.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&str, bool) -> T) -> JsResult<T> {
        let mut length: qjs::size_t = 0;
        // SAFETY: as in `JsValue::with_text`.
        unsafe {
            let bytes = qjs::JS_AtomToCStringLen(self.js.context, &mut length, self.raw);
            if bytes.is_null() {
                return Err(PendingException);
            }
            let text = well_formed(std::slice::from_raw_parts(bytes.cast(), length as usize));
            let result = read(&text, matches!(text, Cow::Borrowed(_)));
            qjs::JS_FreeCString(self.js.context, bytes);
            Ok(result)
        }
    }

    /// A copy of the name.
    pub(super) fn text(&self) -> JsResult<String> {
        self.with_text(|text, _| text.to_owned())
    }
}

impl<'r> JsPropertyNames<'r> {
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// The name at `index`, which is below `len`.
    pub(super) fn at(&self, index: u32) -> JsAtom<'r> {
        assert!(index < self.count, "the table has {} names, not {index}", self.count);
        // SAFETY: the table has `count` entries; the engine counts a new reference to the atom.
        unsafe {
            let raw = qjs::JS_DupAtom(self.js.context, (*self.table.add(index as usize)).atom);
            JsAtom { raw, js: self.js }
        }
    }
}

impl Drop for JsValue<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns one reference, which ends with it.
        unsafe { qjs::JS_FreeValue(self.js.context, self.raw) };
    }
}

impl Drop for JsAtom<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns one reference, which ends with it.
        unsafe { qjs::JS_FreeAtom(self.js.context, self.raw) };
    }
}

impl Drop for JsPropertyNames<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns the table and the references in it.
        unsafe { qjs::JS_FreePropertyEnum(self.js.context, self.table, self.count) };
    }
}

/// The text in `bytes`. JavaScript allows lone surrogates, which the engine encodes in three bytes
/// each as if they were characters; UTF-8 does not allow that, so each becomes U+FFFD.
fn well_formed(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len());
            let mut rest = bytes;
            while !rest.is_empty() {
                let (valid, invalid) = match std::str::from_utf8(rest) {
                    Ok(all) => (all.len(), 0),
                    Err(error) => (error.valid_up_to(), 3.min(rest.len() - error.valid_up_to())),
                };
                text.push_str(std::str::from_utf8(&rest[..valid]).unwrap_or_default());
                if invalid > 0 {
                    text.push('\u{fffd}');
                }
                rest = &rest[valid + invalid..];
            }
            Cow::Owned(text)
        }
    }
}
