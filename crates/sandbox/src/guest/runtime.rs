//! The JavaScript runtime of one call, in an empty heap. It is made in advance, entered once, and
//! then dropped with all of its memory; the engine's own functions for ending a runtime are never
//! called.
//!
//! Deliberately absent: the engine's standard library, timers, and the parts of the language that
//! reach other threads, observe the garbage collector or measure time finely.

use std::ffi::{c_int, c_void};
use std::io;

use rquickjs_sys as qjs;

use super::call_state::GuestCallState;
use super::engine::JsContext;
use super::globals::throw_error;
use super::heap::{self, GuestHeap};
use crate::error::IMPORT_REFUSED;

/// Characters of the name of a module that a message shows.
const MODULE_NAME_SHOWN: usize = 128;

/// A runtime in which nothing has run yet.
pub(super) struct GuestRuntime {
    /// Comes from a `Box` and belongs to this struct. A raw pointer, because the engine uses it
    /// through one of its own.
    heap: *mut GuestHeap,
    /// Null from the moment a call enters until `renew`.
    context: *mut qjs::JSContext,
}

impl GuestRuntime {
    /// Reserves the heap and makes the first runtime.
    pub(super) fn new() -> io::Result<GuestRuntime> {
        let heap = Box::into_raw(Box::new(GuestHeap::reserve()?));
        let mut runtime = GuestRuntime { heap, context: std::ptr::null_mut() };
        runtime.renew();
        Ok(runtime)
    }

    /// Drops the runtime with all of its memory. Its cost depends on what the last call used.
    pub(super) fn clear(&mut self) {
        self.context = std::ptr::null_mut();
        // SAFETY: the engine does not run, and `enter` let no value of the runtime escape. So
        // nothing uses the heap.
        unsafe { (*self.heap).clear() };
    }

    /// Makes a new runtime. That is about half of the work of a small call, so it is done when no
    /// caller waits.
    pub(super) fn renew(&mut self) {
        self.clear();
        // SAFETY: the heap is empty, stays in place, and is used by the engine alone. The engine
        // runs on this thread alone.
        self.context = unsafe {
            let runtime = qjs::JS_NewRuntime2(&heap::FUNCTIONS, self.heap.cast());
            // Only memory could be lacking, and a heap that refuses it ends the process.
            assert!(!runtime.is_null(), "the engine makes a runtime");
            qjs::JS_SetModuleLoaderFunc(runtime, Some(refuse_import), None, std::ptr::null_mut());
            new_context(runtime)
        };
    }

    /// The memory of the runtime. The pointer stays the same from call to call.
    pub(super) fn heap(&self) -> *mut GuestHeap {
        self.heap
    }

    /// Runs `inside` in the runtime, with `stack` bytes of stack. Can be called once; `renew` makes
    /// another runtime.
    pub(super) fn enter<T>(
        &mut self,
        state: &GuestCallState,
        stack: usize,
        inside: impl for<'r> FnOnce(JsContext<'r>) -> T,
    ) -> T {
        let context = std::mem::replace(&mut self.context, std::ptr::null_mut());
        assert!(!context.is_null(), "`renew` made a runtime for this call");
        // SAFETY: the context is valid until the heap is cleared, and was just taken out, so it is
        // used here only. `inside` accepts any lifetime `'r`, so no value of the runtime can be
        // part of its result. The engine has the pointer to `state` only while `state` is
        // borrowed; afterwards no code of the runtime runs any more.
        unsafe {
            let runtime = qjs::JS_GetRuntime(context);
            // The engine measures the depth of the stack from here.
            qjs::JS_UpdateStackTop(runtime);
            qjs::JS_SetMaxStackSize(runtime, stack as qjs::size_t);
            let opaque: *mut c_void = std::ptr::from_ref(state).cast_mut().cast();
            qjs::JS_SetInterruptHandler(runtime, Some(interrupt), opaque);
            qjs::JS_SetContextOpaque(context, opaque);
            (*self.heap).set_refusal_handler(Some((memory_refused, opaque)));
            let result = inside(JsContext::new(context));
            (*self.heap).set_refusal_handler(None);
            result
        }
    }
}

impl Drop for GuestRuntime {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Box::into_raw`, and nothing runs in the heap any more.
        drop(unsafe { Box::from_raw(self.heap) });
    }
}

/// A context with the parts of the language that guests may use. Left out, among others:
/// `performance`, `WeakRef`, `FinalizationRegistry`, `DOMException`, `atob`.
///
/// # Safety
/// `runtime` is valid.
unsafe fn new_context(runtime: *mut qjs::JSRuntime) -> *mut qjs::JSContext {
    let intrinsics: [unsafe extern "C" fn(*mut qjs::JSContext) -> c_int; 9] = [
        qjs::JS_AddIntrinsicBaseObjects,
        qjs::JS_AddIntrinsicDate,
        qjs::JS_AddIntrinsicEval,
        qjs::JS_AddIntrinsicRegExp,
        qjs::JS_AddIntrinsicJSON,
        qjs::JS_AddIntrinsicProxy,
        qjs::JS_AddIntrinsicMapSet,
        qjs::JS_AddIntrinsicTypedArrays,
        qjs::JS_AddIntrinsicPromise,
    ];
    // SAFETY: the caller guarantees the runtime; the context is checked before it is used.
    unsafe {
        let context = qjs::JS_NewContextRaw(runtime);
        assert!(!context.is_null(), "the engine makes a context");
        for add in intrinsics {
            assert!(add(context) >= 0, "the engine adds a part of the language");
        }
        context
    }
}

/// The heap's refusal handler.
///
/// # Safety
/// `opaque` is the state that `enter` was given.
unsafe fn memory_refused(opaque: *const c_void) -> ! {
    // SAFETY: guaranteed by the caller.
    unsafe { &*opaque.cast::<GuestCallState>() }.report_refusal_and_exit()
}

/// The engine calls this regularly, counted in jumps and calls of the guest. Any result but 0 stops
/// the guest with an exception that it cannot catch.
unsafe extern "C" fn interrupt(runtime: *mut qjs::JSRuntime, opaque: *mut c_void) -> c_int {
    // SAFETY: `enter` gave the engine the state, which is borrowed while the guest runs.
    let state = unsafe { &*opaque.cast::<GuestCallState>() };
    let collect_before = state.collect_before.get() as qjs::size_t;
    // SAFETY: the runtime is the one that calls. After a collection the engine raises its threshold
    // to one and a half times what is in use, which may be beyond the limit of the guest.
    unsafe {
        if qjs::JS_GetGCThreshold(runtime) > collect_before {
            qjs::JS_SetGCThreshold(runtime, collect_before);
        }
    }
    c_int::from(state.must_stop())
}

/// The engine calls this to resolve the name of every import, static or dynamic, before it looks
/// for the module. So no loader is needed: there is nothing to load.
unsafe extern "C" fn refuse_import(
    context: *mut qjs::JSContext,
    _: *const std::ffi::c_char,
    name: *const std::ffi::c_char,
    _: *mut c_void,
) -> *mut std::ffi::c_char {
    // SAFETY: the engine passes a valid context and a name that ends in a NUL.
    let (js, name) =
        unsafe { (JsContext::new(context), std::ffi::CStr::from_ptr(name).to_string_lossy()) };
    let short: String = name.chars().take(MODULE_NAME_SHOWN).collect();
    throw_error(js, &format!("`{short}{IMPORT_REFUSED}"));
    std::ptr::null_mut()
}
