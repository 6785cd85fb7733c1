//! The names that exist in the sandbox before any code runs.
//!
//! A copy of what the engine has, because this crate has no engine. A test of the binary compares
//! it with a running sandbox, so an update of the engine that adds or removes a global fails there.

/// The globals of the sandbox: those of ECMAScript as QuickJS-NG has them, less what the sandbox
/// removes (`SharedArrayBuffer`, `Atomics`, `WeakRef`, `FinalizationRegistry`; there is no `Intl`),
/// and those that it adds: `args`, `console`, `exports` and `module`. Sorted, for the binary
/// search.
///
/// Names that are missing here although every browser has them, such as `setTimeout` and `fetch`,
/// do not exist in the sandbox: it has no event loop with timers and no network.
pub const GLOBALS: &[&str] = &[
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakSet",
    "args",
    "console",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "exports",
    "globalThis",
    "isFinite",
    "isNaN",
    "module",
    "parseFloat",
    "parseInt",
    "queueMicrotask",
    "undefined",
    "unescape",
];

#[cfg(test)]
mod tests {
    #[test]
    fn globals_are_sorted_for_binary_search() {
        assert!(super::GLOBALS.is_sorted());
    }
}
