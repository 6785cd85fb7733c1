//! The engine's values with an owner: what is held is kept alive, what is dropped is given back.
//! Nothing here decides anything; it is the only file, beside the heap and the callbacks, that
//! speaks to the engine.

use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr;

use rquickjs_sys as qjs;

/// How many proxies of proxies are looked through.
const PROXIES: usize = 1000;

unsafe extern "C" {
    /// What the engine offers to its own command line, and to nobody else: nothing but this tells
    /// where something was thrown that is no `Error`.
    fn js_std_cmd(command: c_int, ...) -> usize;
}

/// Gives the stack of the last exception that was not caught by a `catch`, and forgets it.
const ERROR_BACK_TRACE: c_int = 2;

/// An exception is pending in the engine.
#[derive(Debug)]
pub(super) struct Pending;

/// A value or a pending exception.
pub(super) type Outcome<T> = Result<T, Pending>;

/// Text that ends in a NUL, and may have others: the engine's parsers look one byte past the end.
#[derive(Clone, Copy)]
pub(super) struct Terminated<'a>(&'a [u8]);

impl<'a> Terminated<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Option<Terminated<'a>> {
        (bytes.last() == Some(&0)).then_some(Terminated(bytes))
    }

    fn parts(self) -> (*const std::ffi::c_char, qjs::size_t) {
        (self.0.as_ptr().cast(), (self.0.len() - 1) as qjs::size_t)
    }
}

/// A context in which code runs. Lives as long as the runtime it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Js<'r> {
    context: *mut qjs::JSContext,
    runtime: PhantomData<&'r ()>,
}

/// A value that is owned.
pub(super) struct Value<'r> {
    raw: qjs::JSValue,
    js: Js<'r>,
}

/// The name of a property, interned.
pub(super) struct Atom<'r> {
    raw: qjs::JSAtom,
    js: Js<'r>,
}

/// The names of an object's own properties.
pub(super) struct Names<'r> {
    table: *mut qjs::JSPropertyEnum,
    count: u32,
    js: Js<'r>,
}

/// What kind of thing a value is, as far as anybody here cares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String,
    Symbol,
    BigInt,
    Object,
    Other,
}

impl<'r> Js<'r> {
    /// # Safety
    /// `context` is valid for as long as `'r`, and used by this thread alone.
    pub(super) unsafe fn new(context: *mut qjs::JSContext) -> Js<'r> {
        Js { context, runtime: PhantomData }
    }

    pub(super) fn raw(self) -> *mut qjs::JSContext {
        self.context
    }

    pub(super) fn runtime(self) -> *mut qjs::JSRuntime {
        // SAFETY: the context is valid.
        unsafe { qjs::JS_GetRuntime(self.context) }
    }

    /// Takes over a value that somebody gave away.
    ///
    /// # Safety
    /// `raw` belongs to this runtime, and its owner gives it up.
    pub(super) unsafe fn adopt(self, raw: qjs::JSValue) -> Value<'r> {
        Value { raw, js: self }
    }

    /// Takes over what an engine function returned.
    ///
    /// # Safety
    /// As for `adopt`; an exception is pending if `raw` says so.
    pub(super) unsafe fn outcome(self, raw: qjs::JSValue) -> Outcome<Value<'r>> {
        // SAFETY: looks at the tag; the rest is the caller's.
        unsafe { if qjs::JS_IsException(raw) { Err(Pending) } else { Ok(self.adopt(raw)) } }
    }

    /// A second owner of a value that somebody else holds.
    ///
    /// # Safety
    /// `raw` is a live value of this runtime.
    pub(super) unsafe fn share(self, raw: qjs::JSValue) -> Value<'r> {
        // SAFETY: the caller's.
        unsafe { self.adopt(qjs::JS_DupValue(self.context, raw)) }
    }

    pub(super) fn undefined(self) -> Value<'r> {
        Value { raw: qjs::JS_UNDEFINED, js: self }
    }

    pub(super) fn global(self) -> Value<'r> {
        // SAFETY: the context is valid; the value is given to us.
        unsafe { self.adopt(qjs::JS_GetGlobalObject(self.context)) }
    }

    pub(super) fn object(self) -> Outcome<Value<'r>> {
        // SAFETY: as above.
        unsafe { self.outcome(qjs::JS_NewObject(self.context)) }
    }

    pub(super) fn string(self, text: &str) -> Outcome<Value<'r>> {
        // SAFETY: the engine copies `len` bytes.
        unsafe {
            self.outcome(qjs::JS_NewStringLen(
                self.context,
                text.as_ptr().cast(),
                text.len() as qjs::size_t,
            ))
        }
    }

    pub(super) fn error(self) -> Outcome<Value<'r>> {
        // SAFETY: as above.
        unsafe { self.outcome(qjs::JS_NewError(self.context)) }
    }

    pub(super) fn atom(self, name: &str) -> Outcome<Atom<'r>> {
        // SAFETY: the engine copies `len` bytes; 0 says that memory ran out.
        let raw = unsafe {
            qjs::JS_NewAtomLen(self.context, name.as_ptr().cast(), name.len() as qjs::size_t)
        };
        if raw == 0 { Err(Pending) } else { Ok(Atom { raw, js: self }) }
    }

    /// Parses JSON.
    pub(super) fn parse_json(self, text: Terminated) -> Outcome<Value<'r>> {
        let (start, length) = text.parts();
        // SAFETY: the text is terminated, as the engine's parser wants it.
        unsafe { self.outcome(qjs::JS_ParseJSON(self.context, start, length, c"input".as_ptr())) }
    }

    /// Compiles or runs source text.
    pub(super) fn eval(self, source: Terminated, file: &CStr, flags: u32) -> Outcome<Value<'r>> {
        let (start, length) = source.parts();
        // SAFETY: the source is terminated, as the engine's parser wants it.
        unsafe {
            self.outcome(qjs::JS_Eval(self.context, start, length, file.as_ptr(), flags as i32))
        }
    }

    /// The bytecode of what was compiled.
    pub(super) fn write_bytecode(self, program: &Value<'r>) -> Outcome<Vec<u8>> {
        let mut length: qjs::size_t = 0;
        // SAFETY: the engine gives a buffer of `length` bytes, or null and an exception; it is
        // freed once copied.
        unsafe {
            let flags = qjs::JS_WRITE_OBJ_BYTECODE as i32;
            let bytes = qjs::JS_WriteObject(self.context, &mut length, program.raw, flags);
            if bytes.is_null() {
                return Err(Pending);
            }
            let copy = std::slice::from_raw_parts(bytes, length as usize).to_vec();
            qjs::js_free(self.context, bytes.cast());
            Ok(copy)
        }
    }

    /// Loads bytecode.
    ///
    /// # Safety
    /// The bytes were written by `write_bytecode` of this very engine: it trusts them.
    pub(super) unsafe fn read_bytecode(self, bytes: &[u8]) -> Outcome<Value<'r>> {
        let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
        // SAFETY: the caller's.
        unsafe {
            self.outcome(qjs::JS_ReadObject(
                self.context,
                bytes.as_ptr(),
                bytes.len() as qjs::size_t,
                flags,
            ))
        }
    }

    /// Runs a script or a module that was compiled or loaded.
    pub(super) fn run(self, program: Value<'r>) -> Outcome<Value<'r>> {
        let raw = program.give_away();
        // SAFETY: the engine takes the program over.
        unsafe { self.outcome(qjs::JS_EvalFunction(self.context, raw)) }
    }

    /// Loads what a module imports.
    pub(super) fn resolve_module(self, module: &Value<'r>) -> Outcome<()> {
        // SAFETY: the value is a module.
        if unsafe { qjs::JS_ResolveModule(self.context, module.raw) } < 0 {
            Err(Pending)
        } else {
            Ok(())
        }
    }

    /// Collects cycles when this many bytes are in use, and from then on when half as much again
    /// is.
    pub(super) fn collect_at(self, bytes: usize) {
        // SAFETY: the runtime is valid.
        unsafe { qjs::JS_SetGCThreshold(self.runtime(), bytes as qjs::size_t) };
    }

    pub(super) fn is_job_pending(self) -> bool {
        // SAFETY: the runtime is valid.
        unsafe { qjs::JS_IsJobPending(self.runtime()) }
    }

    pub(super) fn run_one_job(self) -> Outcome<()> {
        let mut context = ptr::null_mut();
        // SAFETY: there is one context in this runtime, and it is ours.
        if unsafe { qjs::JS_ExecutePendingJob(self.runtime(), &mut context) } < 0 {
            Err(Pending)
        } else {
            Ok(())
        }
    }

    /// Takes the pending exception; `None` stands for one that the engine had no memory to make.
    pub(super) fn take_exception(self) -> Option<Value<'r>> {
        // SAFETY: the exception is given to us.
        unsafe {
            if !qjs::JS_HasException(self.context) {
                return None;
            }
            Some(self.adopt(qjs::JS_GetException(self.context)))
        }
    }

    /// The stack of the last exception. It may be that of an earlier one which a promise swallowed,
    /// or of an error that was only made.
    pub(super) fn take_trace(self) -> Option<Value<'r>> {
        let mut trace = qjs::JS_UNDEFINED;
        // SAFETY: the command takes a context and where to put a value, which is given to us.
        let trace = unsafe {
            js_std_cmd(ERROR_BACK_TRACE, self.context, &raw mut trace);
            self.adopt(trace)
        };
        (trace.kind() == Kind::String).then_some(trace)
    }

    /// Makes `value` the pending exception.
    pub(super) fn throw(self, value: Value<'r>) -> Pending {
        // SAFETY: the engine takes the value over.
        unsafe { qjs::JS_Throw(self.context, value.give_away()) };
        Pending
    }

    /// A promise, and the functions that fulfil and reject it.
    pub(super) fn promise(self) -> Outcome<(Value<'r>, Value<'r>, Value<'r>)> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        // SAFETY: the engine fills both functions if it gives a promise.
        unsafe {
            let promise =
                self.outcome(qjs::JS_NewPromiseCapability(self.context, functions.as_mut_ptr()))?;
            Ok((promise, self.adopt(functions[0]), self.adopt(functions[1])))
        }
    }
}

impl<'r> Value<'r> {
    pub(super) fn js(&self) -> Js<'r> {
        self.js
    }

    pub(super) fn raw(&self) -> qjs::JSValue {
        self.raw
    }

    /// Hands ownership to the engine.
    pub(super) fn give_away(self) -> qjs::JSValue {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    pub(super) fn kind(&self) -> Kind {
        // SAFETY: looks at tags, and reads the union's field that the tag names.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(self.raw) {
                qjs::JS_TAG_INT => Kind::Number(f64::from(qjs::JS_VALUE_GET_INT(self.raw))),
                qjs::JS_TAG_FLOAT64 => Kind::Number(qjs::JS_VALUE_GET_FLOAT64(self.raw)),
                qjs::JS_TAG_BOOL => Kind::Bool(qjs::JS_VALUE_GET_BOOL(self.raw)),
                qjs::JS_TAG_UNDEFINED | qjs::JS_TAG_UNINITIALIZED => Kind::Undefined,
                qjs::JS_TAG_NULL => Kind::Null,
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => Kind::String,
                qjs::JS_TAG_SYMBOL => Kind::Symbol,
                qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => Kind::BigInt,
                qjs::JS_TAG_OBJECT => Kind::Object,
                _ => Kind::Other,
            }
        }
    }

    pub(super) fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    pub(super) fn is_function(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { qjs::JS_IsFunction(self.js.context, self.raw) }
    }

    pub(super) fn is_error(&self) -> bool {
        // SAFETY: looks at the class.
        unsafe { qjs::JS_IsError(self.raw) }
    }

    /// Whether it is an array, or a proxy of one.
    pub(super) fn is_array(&self) -> bool {
        // SAFETY: looks at the class of live values; a target is given to us.
        unsafe {
            if !self.is_proxy() {
                return qjs::JS_IsArray(self.raw);
            }
            let mut target = self.js.outcome(qjs::JS_GetProxyTarget(self.js.context, self.raw));
            for _ in 0..PROXIES {
                match target {
                    Ok(value) if value.is_proxy() => {
                        target =
                            self.js.outcome(qjs::JS_GetProxyTarget(self.js.context, value.raw));
                    }
                    Ok(value) => return qjs::JS_IsArray(value.raw),
                    // One that was revoked. Whoever looks into it is told.
                    Err(Pending) => break,
                }
            }
            drop(self.js.take_exception());
            false
        }
    }

    pub(super) fn is_proxy(&self) -> bool {
        // SAFETY: looks at the class.
        unsafe { qjs::JS_IsProxy(self.raw) }
    }

    /// The state of a promise; `None` if the value is none.
    pub(super) fn promise_state(&self) -> Option<PromiseState<'r>> {
        // SAFETY: the value is live; the result is given to us.
        unsafe {
            if !qjs::JS_IsPromise(self.raw) {
                return None;
            }
            let result = || self.js.adopt(qjs::JS_PromiseResult(self.js.context, self.raw));
            Some(match qjs::JS_PromiseState(self.js.context, self.raw) {
                qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => PromiseState::Fulfilled(result()),
                qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => PromiseState::Rejected(result()),
                _ => PromiseState::Pending,
            })
        }
    }

    /// The engine's name for the kind of object, which code cannot change: `Map`, `RegExp` …
    pub(super) fn class_name(&self) -> Option<String> {
        // SAFETY: the class of a live object; the atom is ours.
        unsafe {
            let atom = qjs::JS_GetClassName(self.js.runtime(), qjs::JS_GetClassID(self.raw));
            if atom == 0 {
                return None;
            }
            Atom { raw: atom, js: self.js }.text().ok()
        }
    }

    /// The object's identity.
    pub(super) fn address(&self) -> usize {
        // SAFETY: only the address is taken.
        unsafe { qjs::JS_VALUE_GET_PTR(self.raw) as usize }
    }

    pub(super) fn get(&self, name: &Atom<'r>) -> Outcome<Value<'r>> {
        // SAFETY: both are live.
        unsafe { self.js.outcome(qjs::JS_GetProperty(self.js.context, self.raw, name.raw)) }
    }

    pub(super) fn get_str(&self, name: &str) -> Outcome<Value<'r>> {
        self.get(&self.js.atom(name)?)
    }

    pub(super) fn get_index(&self, index: i64) -> Outcome<Value<'r>> {
        // SAFETY: the value is live.
        unsafe { self.js.outcome(qjs::JS_GetPropertyInt64(self.js.context, self.raw, index)) }
    }

    pub(super) fn length(&self) -> Outcome<i64> {
        let mut length = 0;
        // SAFETY: the value is live.
        let result = unsafe { qjs::JS_GetLength(self.js.context, self.raw, &mut length) };
        if result < 0 { Err(Pending) } else { Ok(length) }
    }

    /// Defines an own property with flags of `JS_PROP_*`.
    pub(super) fn define(&self, name: &str, value: Value<'r>, flags: u32) -> Outcome<()> {
        let atom = self.js.atom(name)?;
        // SAFETY: the engine takes the value over.
        let result = unsafe {
            let raw = value.give_away();
            qjs::JS_DefinePropertyValue(self.js.context, self.raw, atom.raw, raw, flags as i32)
        };
        if result < 0 { Err(Pending) } else { Ok(()) }
    }

    pub(super) fn delete(&self, name: &str) -> Outcome<()> {
        let atom = self.js.atom(name)?;
        // SAFETY: both are live.
        let result = unsafe { qjs::JS_DeleteProperty(self.js.context, self.raw, atom.raw, 0) };
        if result < 0 { Err(Pending) } else { Ok(()) }
    }

    /// An own property's value, if there is one and reading it runs no code.
    pub(super) fn own_data(&self, name: &Atom<'r>) -> Outcome<Option<(Value<'r>, bool)>> {
        let undefined = qjs::JS_UNDEFINED;
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: undefined,
            getter: undefined,
            setter: undefined,
        };
        // SAFETY: the engine fills the description if it says 1, and gives its values to us.
        unsafe {
            match qjs::JS_GetOwnProperty(self.js.context, &mut found, self.raw, name.raw) {
                0 => return Ok(None),
                1 => {}
                _ => return Err(Pending),
            }
            let value = self.js.adopt(found.value);
            drop((self.js.adopt(found.getter), self.js.adopt(found.setter)));
            let is_accessor = found.flags as u32 & qjs::JS_PROP_TMASK == qjs::JS_PROP_GETSET;
            let is_enumerable = found.flags as u32 & qjs::JS_PROP_ENUMERABLE != 0;
            Ok((!is_accessor).then_some((value, is_enumerable)))
        }
    }

    /// The names of the enumerable own properties, in order; symbols are none.
    pub(super) fn names(&self) -> Outcome<Names<'r>> {
        let (mut table, mut count) = (ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
        // SAFETY: the engine fills the table, which `Names` frees.
        let result = unsafe {
            qjs::JS_GetOwnPropertyNames(self.js.context, &mut table, &mut count, self.raw, flags)
        };
        if result < 0 { Err(Pending) } else { Ok(Names { table, count, js: self.js }) }
    }

    pub(super) fn call(&self, this: &Value<'r>, arguments: &[&Value<'r>]) -> Outcome<Value<'r>> {
        let mut raw: Vec<qjs::JSValue> = arguments.iter().map(|argument| argument.raw).collect();
        // SAFETY: function and arguments are live during the call.
        unsafe {
            let count = raw.len() as i32;
            let value = qjs::JS_Call(self.js.context, self.raw, this.raw, count, raw.as_mut_ptr());
            self.js.outcome(value)
        }
    }

    /// The value as a string object of JavaScript; may run code.
    pub(super) fn to_js_string(&self) -> Outcome<Value<'r>> {
        // SAFETY: the value is live.
        unsafe { self.js.outcome(qjs::JS_ToString(self.js.context, self.raw)) }
    }

    /// The value as a number; may run code.
    pub(super) fn to_number(&self) -> Outcome<f64> {
        let mut number = 0.0;
        // SAFETY: the value is live; the engine fills the number.
        let result = unsafe { qjs::JS_ToFloat64(self.js.context, &mut number, self.raw) };
        if result < 0 { Err(Pending) } else { Ok(number) }
    }

    /// Shows the text of a string to `read`. Half characters, which only JavaScript has, become
    /// U+FFFD.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> Outcome<T> {
        let mut length: qjs::size_t = 0;
        // SAFETY: the engine gives `length` bytes that stay until they are freed.
        unsafe {
            let bytes = qjs::JS_ToCStringLen2(self.js.context, &mut length, self.raw, false);
            if bytes.is_null() {
                return Err(Pending);
            }
            let text = well_formed(std::slice::from_raw_parts(bytes.cast(), length as usize));
            let result = read(&text);
            qjs::JS_FreeCString(self.js.context, bytes);
            Ok(result)
        }
    }

    pub(super) fn text(&self) -> Outcome<String> {
        self.with_text(str::to_owned)
    }

    /// The namespace of a module that was loaded.
    pub(super) fn module_namespace(&self) -> Outcome<Value<'r>> {
        // SAFETY: the value is a module, which its context keeps alive.
        unsafe {
            let module = qjs::JS_VALUE_GET_PTR(self.raw).cast();
            self.js.outcome(qjs::JS_GetModuleNamespace(self.js.context, module))
        }
    }
}

/// How far a promise is.
pub(super) enum PromiseState<'r> {
    Pending,
    Fulfilled(Value<'r>),
    Rejected(Value<'r>),
}

impl<'r> Atom<'r> {
    /// Shows the name to `read`, and whether it is whole: half characters became U+FFFD.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&str, bool) -> T) -> Outcome<T> {
        let mut length: qjs::size_t = 0;
        // SAFETY: as for the text of values.
        unsafe {
            let bytes = qjs::JS_AtomToCStringLen(self.js.context, &mut length, self.raw);
            if bytes.is_null() {
                return Err(Pending);
            }
            let text = well_formed(std::slice::from_raw_parts(bytes.cast(), length as usize));
            let result = read(&text, matches!(text, Cow::Borrowed(_)));
            qjs::JS_FreeCString(self.js.context, bytes);
            Ok(result)
        }
    }

    pub(super) fn text(&self) -> Outcome<String> {
        self.with_text(|text, _| text.to_owned())
    }
}

impl<'r> Names<'r> {
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// The name at `index`, which is below `len`.
    pub(super) fn at(&self, index: u32) -> Atom<'r> {
        assert!(index < self.count, "a name of the table");
        // SAFETY: the table has `count` entries; the atom gets a second owner.
        unsafe {
            let raw = qjs::JS_DupAtom(self.js.context, (*self.table.add(index as usize)).atom);
            Atom { raw, js: self.js }
        }
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        // SAFETY: we own it.
        unsafe { qjs::JS_FreeValue(self.js.context, self.raw) };
    }
}

impl Drop for Atom<'_> {
    fn drop(&mut self) {
        // SAFETY: we own it.
        unsafe { qjs::JS_FreeAtom(self.js.context, self.raw) };
    }
}

impl Drop for Names<'_> {
    fn drop(&mut self) {
        // SAFETY: we own the table.
        unsafe { qjs::JS_FreePropertyEnum(self.js.context, self.table, self.count) };
    }
}

/// The engine writes half characters as if they were characters; UTF-8 has none.
fn well_formed(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len());
            let mut rest = bytes;
            while !rest.is_empty() {
                let (good, bad) = match std::str::from_utf8(rest) {
                    Ok(all) => (all.len(), 0),
                    Err(error) => (error.valid_up_to(), 3.min(rest.len() - error.valid_up_to())),
                };
                text.push_str(std::str::from_utf8(&rest[..good]).unwrap_or_default());
                if bad > 0 {
                    text.push('\u{fffd}');
                }
                rest = &rest[good + bad..];
            }
            Cow::Owned(text)
        }
    }
}
