//! Finds the function of a program that is to be called. The rules for a script, in order:
//! `module.exports`, the value of the script, the only function that it declares or the one that is
//! named like its id. A module has its default export.

use rquickjs_sys as qjs;

use super::engine::{JsContext, JsResult, JsValue, JsValueKind, NulTerminated};
use super::failure::{GuestFailure, shorten};
use crate::error::SandboxErrorCode;

/// How many names a message lists, and how many bytes of each: a program may export thousands of
/// functions with names of any length.
const NAMES_SHOWN: usize = 8;
const NAME_LENGTH: usize = 64;

/// The way from a program to its result.
pub(super) enum GuestEntry<'r> {
    /// The function to call with the argument.
    Call(JsValue<'r>),
    /// The value of the script, which is the result itself.
    Result(JsValue<'r>),
}

/// The entry point of a script that has run and whose value is `value`. `name` is the function to
/// take if several are exported or declared, `names` are candidates for declared ones. The outer
/// result is an exception that a getter of the exports threw.
pub(super) fn of_script<'r>(
    module: &JsValue<'r>,
    value: JsValue<'r>,
    name: &str,
    names: &[&str],
) -> JsResult<Result<GuestEntry<'r>, GuestFailure>> {
    // First rule: `module.exports`.
    match exported_function(module, name)? {
        Ok(Some(function)) => return Ok(Ok(GuestEntry::Call(function))),
        Ok(None) => {}
        Err(failure) => return Ok(Err(failure)),
    }
    // Second rule: the value of the script, which is that of its last expression statement.
    if value.is_function() {
        return Ok(Ok(GuestEntry::Call(value)));
    }
    if value.kind() != JsValueKind::Undefined && !is_accidental_value(module, &value)? {
        return Ok(Ok(GuestEntry::Result(value)));
    }
    // Third rule: the only declared function, or the one of that name.
    let mut declared = declared_functions(module.js(), names);
    if declared.len() > 1 && declared.iter().any(|(own, _)| *own == name) {
        declared.retain(|(own, _)| *own == name);
    }
    Ok(match (declared.pop(), declared.len()) {
        (Some((_, function)), 0) => Ok(GuestEntry::Call(function)),
        (Some((last, _)), _) => {
            let names: Vec<&str> = declared.iter().map(|(name, _)| *name).chain([last]).collect();
            Err(no_entry_point(format!(
                "{} functions are declared ({}) and none is exported",
                names.len(),
                quoted(&names)
            )))
        }
        (None, _) => Err(no_entry_point(
            "the program exports nothing callable, has no value and declares no function",
        )),
    })
}

/// Whether the value of a script is one that its author did not mean as a result: that of the
/// directive `'use strict'`, or of the assignment to `module.exports`.
fn is_accidental_value(module: &JsValue<'_>, value: &JsValue<'_>) -> JsResult<bool> {
    if value.kind() == JsValueKind::String {
        return value.with_text(|text| text == "use strict");
    }
    Ok(value.is_object() && module.get_str("exports")?.address() == value.address())
}

/// The entry point of a module that has been evaluated.
pub(super) fn of_module<'r>(
    namespace: &JsValue<'r>,
) -> JsResult<Result<GuestEntry<'r>, GuestFailure>> {
    let default = namespace.get_str("default")?;
    Ok(if default.is_function() {
        Ok(GuestEntry::Call(default))
    } else if default.kind() == JsValueKind::Undefined {
        Err(no_entry_point("the module has no default export"))
    } else {
        Err(no_entry_point("the module's default export is not a function"))
    })
}

/// The failure of a program without an entry point.
fn no_entry_point(message: impl Into<String>) -> GuestFailure {
    GuestFailure::new(SandboxErrorCode::NoEntryPoint, message)
}

/// The function in `module.exports`: the value itself, its only function, or the one called
/// `name`. `None` if it has no function; a failure if it has several and none of that name.
fn exported_function<'r>(
    module: &JsValue<'r>,
    name: &str,
) -> JsResult<Result<Option<JsValue<'r>>, GuestFailure>> {
    let exports = module.get_str("exports")?;
    if exports.is_function() {
        return Ok(Ok(Some(exports)));
    }
    if !exports.is_object() {
        return Ok(Ok(None));
    }
    let members = exports.property_names()?;
    let mut functions = Vec::new();
    for index in 0..members.len() {
        let member_name = members.at(index);
        let member = exports.get(&member_name)?;
        if member.is_function() {
            functions.push((member_name.text()?, member));
        }
    }
    // The name decides only between several: authors often name a single function differently.
    if functions.len() > 1 {
        let found: Vec<String> = functions.iter().map(|(name, _)| name.clone()).collect();
        functions.retain(|(found, _)| found == name);
        if functions.is_empty() {
            let found = quoted(&found);
            let message = match name {
                "" => format!("several functions are exported ({found})"),
                _ => format!("several functions are exported ({found}), none called `{name}`"),
            };
            return Ok(Err(no_entry_point(message)));
        }
    }
    Ok(Ok(functions.pop().map(|(_, function)| function)))
}

/// The functions among `names` that the script declares at its top level. Evaluating a name is the
/// only way to reach a `let` or `const`, and has no effect.
fn declared_functions<'r, 'n>(js: JsContext<'r>, names: &[&'n str]) -> Vec<(&'n str, JsValue<'r>)> {
    let global = js.global();
    let mut found = Vec::new();
    for name in names {
        // Built-in functions have names, too. Their properties of the global object are not
        // enumerable, whereas those of declared functions are.
        let property = js.atom(name).and_then(|atom| global.own_data(&atom));
        if matches!(property, Ok(Some((_, false)))) {
            continue;
        }
        let source = [name.as_bytes(), b"\0"].concat();
        let Some(source) = NulTerminated::new(&source) else { continue };
        match js.eval(source, c"entry", qjs::JS_EVAL_TYPE_GLOBAL) {
            Ok(value) if value.is_function() => found.push((*name, value)),
            // Not a function, or a ReferenceError because the name belongs to an inner scope.
            _ => drop(js.take_exception()),
        }
    }
    found
}

/// Names in backticks, as far as a message has room for them.
fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names
        .iter()
        .take(NAMES_SHOWN)
        .map(|name| format!("`{}`", shorten(name.as_ref(), NAME_LENGTH)));
    let more = if names.len() > NAMES_SHOWN { ", …" } else { "" };
    shown.collect::<Vec<_>>().join(", ") + more
}
