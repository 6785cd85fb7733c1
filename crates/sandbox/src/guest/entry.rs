//! Which function of a program is called. The rules, in order: `module.exports`; the script's
//! value; the one function that is declared.

use rquickjs_sys as qjs;

use super::failure::{Failure, cut};
use super::js::{Js, Kind, Outcome, Terminated, Value};
use crate::error::Code;

/// What a program offers.
pub(super) enum Entry<'r> {
    Call(Value<'r>),
    /// The value of the script is the result itself.
    Result(Value<'r>),
}

/// What a script offers, once it has run and had `value`. The outer result is an exception of a
/// getter.
pub(super) fn of_script<'r>(
    module: &Value<'r>,
    value: Value<'r>,
    wanted: &str,
    names: &[&str],
) -> Outcome<Result<Entry<'r>, Failure>> {
    match exported(module, wanted)? {
        Ok(Some(function)) => return Ok(Ok(Entry::Call(function))),
        Ok(None) => {}
        Err(failure) => return Ok(Err(failure)),
    }
    if value.is_function() {
        return Ok(Ok(Entry::Call(value)));
    }
    if value.kind() != Kind::Undefined && !says_nothing(module, &value)? {
        return Ok(Ok(Entry::Result(value)));
    }
    let mut declared = declared(module.js(), names);
    Ok(match (declared.pop(), declared.len()) {
        (Some((_, function)), 0) => Ok(Entry::Call(function)),
        (Some((last, _)), _) => {
            let names: Vec<&str> = declared.iter().map(|(name, _)| *name).chain([last]).collect();
            Err(none(format!(
                "{} functions are declared ({}) and none is exported",
                names.len(),
                quoted(&names)
            )))
        }
        (None, _) => {
            Err(none("the program exports nothing callable, has no value and declares no function"))
        }
    })
}

/// Whether a script has its value only by chance: that of a directive, or of setting
/// `module.exports`.
fn says_nothing(module: &Value<'_>, value: &Value<'_>) -> Outcome<bool> {
    if value.kind() == Kind::String {
        return value.with_text(|text| text == "use strict");
    }
    Ok(value.is_object() && module.get_str("exports")?.address() == value.address())
}

/// The default export of a module.
pub(super) fn of_module<'r>(namespace: &Value<'r>) -> Outcome<Result<Entry<'r>, Failure>> {
    let default = namespace.get_str("default")?;
    Ok(if default.is_function() {
        Ok(Entry::Call(default))
    } else if default.kind() == Kind::Undefined {
        Err(none("the module has no default export"))
    } else {
        Err(none("the module's default export is no function"))
    })
}

fn none(message: impl Into<String>) -> Failure {
    Failure::new(Code::NoEntryPoint, message)
}

fn exported<'r>(module: &Value<'r>, wanted: &str) -> Outcome<Result<Option<Value<'r>>, Failure>> {
    let exports = module.get_str("exports")?;
    if exports.is_function() {
        return Ok(Ok(Some(exports)));
    }
    if !exports.is_object() {
        return Ok(Ok(None));
    }
    let names = exports.names()?;
    let mut functions = Vec::new();
    for index in 0..names.len() {
        let name = names.at(index);
        let member = exports.get(&name)?;
        if member.is_function() {
            functions.push((name.text()?, member));
        }
    }
    if functions.len() > 1 {
        let found: Vec<String> = functions.iter().map(|(name, _)| name.clone()).collect();
        functions.retain(|(name, _)| name == wanted);
        if functions.is_empty() {
            let message = match wanted {
                "" => format!("several functions are exported ({})", quoted(&found)),
                _ => format!(
                    "several functions are exported ({}), none called `{wanted}`",
                    quoted(&found)
                ),
            };
            return Ok(Err(none(message)));
        }
    }
    Ok(Ok(functions.pop().map(|(_, function)| function)))
}

/// The functions among `names` that are declared at the top. Functions of the language have names
/// too: those are properties of the global object that cannot be listed.
fn declared<'r, 'n>(js: Js<'r>, names: &[&'n str]) -> Vec<(&'n str, Value<'r>)> {
    let global = js.global();
    let mut found = Vec::new();
    for name in names {
        let is_given = js.atom(name).and_then(|atom| global.own_data(&atom));
        if matches!(is_given, Ok(Some((_, false)))) {
            continue;
        }
        let source = [name.as_bytes(), b"\0"].concat();
        let Some(source) = Terminated::new(&source) else { continue };
        match js.eval(source, c"entry", qjs::JS_EVAL_TYPE_GLOBAL) {
            Ok(value) if value.is_function() => found.push((*name, value)),
            // A name of an inner scope.
            _ => drop(js.take_exception()),
        }
    }
    found
}

fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(8).map(|name| format!("`{}`", cut(name.as_ref(), 64)));
    let more = if names.len() > 8 { ", …" } else { "" };
    shown.collect::<Vec<_>>().join(", ") + more
}
