//! The global `helpers`: the helpers of a definition, for its other functions.
//!
//! ```text
//! function of the definition ─ helpers.formatDate(x), helpers['format-date'](x) ─▶ the helper
//! ```
//!
//! A helper is a member under its id and under its name in camelCase. It runs in the same guest as
//! the function that calls it, within the limits of that one, and is evaluated anew by every call.
//! Its entry point is found as in a run of its own, and its first argument is its `args`. An error
//! of a helper has its place in the helper as `cause`.
//!
//! All of it is a prelude of the functions that mention `helpers`. Its names start with `__` and
//! the code of the helpers is percent-encoded, because the sandbox does not take a name that a
//! prelude seems to declare for the entry point of the program.

use std::fmt::Write;
use std::sync::Arc;

use toolwright_model::Knowledge;

/// Makes `helpers` of a list of encoded ids and code, which replaces `__LIST__`.
const TEMPLATE: &str = r#"globalThis.helpers = ((__list) => {
  const __camel = (id) => id.split(/[-_. ]+/).filter(Boolean)
    .map((word, n) => (n ? word[0].toUpperCase() + word.slice(1) : word)).join('');
  const __evaluate = new Function('module', 'exports', 'args', '__code', 'return eval(__code)');
  const __entry = (__id, __code, args) => {
    const __name = __camel(__id);
    const __module = { exports: {} };
    const __value = __evaluate(__module, __module.exports, args, __code);
    const __exported = __module.exports;
    if (typeof __exported === 'function') return __exported;
    const __members = Object.entries(__exported ?? {}).filter((it) => typeof it[1] === 'function');
    const __member = __members.length === 1 ? __members[0] : __members.find((it) => it[0] === __name);
    if (__member) return __member[1];
    if (typeof __value === 'function') return __value;
    if (![undefined, 'use strict', __exported].includes(__value)) return () => __value;
    const __declaration = /(?:function|const|let|var)\s+([\w$]+)/g;
    const __names = new Set([__name, ...[...__code.matchAll(__declaration)].map((it) => it[1])]);
    const __found = new Map();
    for (const __one of __names) {
      try {
        const __probe = __code + '\n;typeof ' + __one + ' === "function" ? ' + __one + ' : 0';
        const __function = __evaluate({ exports: {} }, {}, args, __probe);
        if (__function) __found.set(__one, __function);
      } catch { /* not a name of the top level */ }
    }
    const __only = __found.size === 1 ? [...__found.values()][0] : __found.get(__name);
    if (__only) return __only;
    throw new Error('the helper `' + __id + '` has no entry point');
  };
  // The engine's trace has no file for evaluated code, so the place goes into the cause.
  const __failed = (__id) => (error) => {
    const __at = error instanceof Error && /<\w+>:(\d+)(?::(\d+))?/.exec(error.stack);
    if (__at && !Object.hasOwn(error, 'cause') && Object.isExtensible(error)) {
      const value = new Error('line ' + __at[1] + (__at[2] ? ', column ' + __at[2] : ''));
      value.name = 'helper `' + __id + '`';
      Object.defineProperty(error, 'cause', { value, configurable: true, writable: true });
    }
    throw error;
  };
  const __helpers = Object.create(null);
  for (const [__id, __code] of __list.map((pair) => pair.map(decodeURIComponent))) {
    const __run = (...given) => {
      const args = given[0];
      if (args instanceof Object && !('args' in args) && Object.isExtensible(args)) {
        Object.defineProperty(args, 'args', { value: args, configurable: true, writable: true });
      }
      try {
        const __value = __entry(__id, __code, args)(...given);
        return __value instanceof Promise ? __value.catch(__failed(__id)) : __value;
      } catch (error) {
        return __failed(__id)(error);
      }
    };
    for (const __name of [__id, __camel(__id)]) __helpers[__name] ??= __run;
  }
  return __helpers;
})([__LIST__]);"#;

/// The prelude of helpers that are too long: only a function that uses them fails.
const TOO_LONG: &str = "Object.defineProperty(globalThis, 'helpers', {
  get() { throw new Error('the helpers of the definition are longer than 1 MiB together'); },
});";

/// Bytes of code of all helpers that functions can call: as much as one function may have.
const MAX_CODE: usize = 1 << 20;

/// Whether a function may use helpers.
pub(super) fn mentions_helpers(code: &str) -> bool {
    code.contains("helpers")
}

/// The prelude that defines `helpers`; empty if the definition has no helper that can be called, or
/// no function that calls one.
pub(super) fn prelude(knowledge: &Knowledge) -> Arc<str> {
    let helpers = &knowledge.helpers;
    let processors = knowledge.processors.iter().map(|it| &it.function);
    let validators = knowledge.validators.iter().map(|it| &it.function);
    let mut code =
        helpers.iter().chain(processors).chain(validators).filter_map(|it| it.code.as_deref());
    if !code.any(mentions_helpers) {
        return Arc::default();
    }
    let callable = helpers.iter().filter(|helper| helper.foreign_language().is_none());
    let (mut list, mut bytes) = (String::new(), 0);
    for helper in callable {
        let (Some(id), Some(code)) = (&helper.id, &helper.code) else { continue };
        bytes += id.len() + code.len();
        if bytes > MAX_CODE {
            return TOO_LONG.into();
        }
        list.push_str("[\"");
        percent_encode(id, &mut list);
        list.push_str("\",\"");
        percent_encode(code, &mut list);
        list.push_str("\"],");
    }
    if list.is_empty() {
        return Arc::default();
    }
    TEMPLATE.replace("__LIST__", &list).into()
}

/// Encodes everything but ASCII letters and digits.
fn percent_encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => into.push(byte.into()),
            // Writing to a string does not fail.
            _ => drop(write!(into, "%{byte:02X}")),
        }
    }
}
