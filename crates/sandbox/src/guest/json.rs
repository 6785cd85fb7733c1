//! A guest's value as JSON. Like `JSON.stringify` in what it writes, unlike it in what it drops: what has no JSON is an
//! error with its place, but for properties that are `undefined`, which are left out. The guest's code runs here only
//! where the language says so (getters, proxies, `toJSON`); none of its functions is asked what anything is.

use super::js::{Atom, Kind, Pending, Value};
use crate::limits::MAX_DEPTH;

/// Why a value could not be written.
pub(super) enum Unwritten {
    /// The guest's code threw meanwhile.
    Threw,
    /// There is no JSON for it.
    NotJson {
        what: String,
        /// From the inside out.
        path: Vec<String>,
    },
    /// It is longer than the cap.
    TooLarge,
    /// Time is up.
    Late,
}

impl From<Pending> for Unwritten {
    fn from(Pending: Pending) -> Unwritten {
        Unwritten::Threw
    }
}

impl Unwritten {
    fn not_json(what: impl Into<String>) -> Unwritten {
        Unwritten::NotJson { what: what.into(), path: Vec::new() }
    }

    fn below(mut self, step: impl FnOnce() -> String) -> Unwritten {
        if let Unwritten::NotJson { path, .. } = &mut self {
            path.push(step());
        }
        self
    }

    /// `the result` or `result.items[3]`, and what it is.
    pub(super) fn sentence(what: &str, path: &[String]) -> String {
        if path.is_empty() {
            return format!("the result is {what}");
        }
        let path: String = path.iter().rev().map(String::as_str).collect();
        format!("`result{path}` is {what}")
    }
}

/// Writes values up to a number of bytes.
pub(super) struct Writer<'a, 'r> {
    out: Vec<u8>,
    cap: usize,
    /// The objects around the one that is written: a cycle leads back to one of them.
    around: Vec<usize>,
    to_json: Atom<'r>,
    /// Asked now and then whether time is up: no code of the guest may run for long here.
    is_late: &'a dyn Fn() -> bool,
    written: u32,
}

impl<'a, 'r> Writer<'a, 'r> {
    pub(super) fn write(
        value: &Value<'r>,
        cap: usize,
        is_late: &'a dyn Fn() -> bool,
    ) -> Result<Vec<u8>, Unwritten> {
        let to_json = value.js().atom("toJSON")?;
        let mut writer = Writer { out: Vec::new(), cap, around: Vec::new(), to_json, is_late, written: 0 };
        if value.kind() == Kind::Undefined {
            return Err(Unwritten::not_json("`undefined`"));
        }
        writer.value(value, "")?;
        Ok(writer.out)
    }

    fn value(&mut self, value: &Value<'r>, key: &str) -> Result<(), Unwritten> {
        self.written = self.written.wrapping_add(1);
        if self.written.is_multiple_of(1024) && (self.is_late)() {
            return Err(Unwritten::Late);
        }
        match value.kind() {
            Kind::Object if value.is_function() => Err(Unwritten::not_json("a function")),
            Kind::Object => self.object(value, key),
            _ => self.primitive(value),
        }
    }

    fn primitive(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        match value.kind() {
            Kind::Null => self.put(b"null"),
            Kind::Bool(true) => self.put(b"true"),
            Kind::Bool(false) => self.put(b"false"),
            Kind::Number(number) => self.number(number),
            Kind::String => value.with_text(|text| self.string(text))?,
            Kind::Undefined => Err(Unwritten::not_json("`undefined`")),
            Kind::BigInt => Err(Unwritten::not_json("a BigInt")),
            Kind::Symbol => Err(Unwritten::not_json("a symbol")),
            Kind::Object | Kind::Other => Err(Unwritten::not_json("no value")),
        }
    }

    fn object(&mut self, value: &Value<'r>, key: &str) -> Result<(), Unwritten> {
        let to_json = value.get(&self.to_json)?;
        if to_json.is_function() {
            let key = value.js().string(key)?;
            let replaced = to_json.call(value, &[&key])?;
            return match replaced.kind() {
                Kind::Object if replaced.is_function() => Err(Unwritten::not_json("a function")),
                Kind::Object => self.structure(&replaced),
                _ => self.primitive(&replaced),
            };
        }
        self.structure(value)
    }

    fn structure(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        let address = value.address();
        if self.around.contains(&address) {
            return Err(Unwritten::not_json("part of a cycle"));
        }
        if self.around.len() == MAX_DEPTH {
            return Err(Unwritten::NotJson {
                what: format!("nested deeper than {MAX_DEPTH} levels"),
                path: Vec::new(),
            });
        }
        self.around.push(address);
        if value.is_array() {
            self.array(value)?;
        } else {
            match value.class_name().as_deref() {
                Some("Object" | "Arguments") => self.members(value)?,
                Some("Number" | "String" | "Boolean") => self.boxed(value)?,
                _ if value.is_proxy() => self.members(value)?,
                Some(class) => return Err(Unwritten::not_json(format!("a `{class}`, which has no JSON"))),
                None => return Err(Unwritten::not_json("no plain object")),
            }
        }
        self.around.pop();
        Ok(())
    }

    fn array(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        self.put(b"[")?;
        for index in 0..value.length()? {
            if index > 0 {
                self.put(b",")?;
            }
            let item = value.get_index(index)?;
            // The name is only wanted by `toJSON`.
            self.value(&item, "").map_err(|bad| bad.below(|| format!("[{index}]")))?;
        }
        self.put(b"]")
    }

    fn members(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        self.put(b"{")?;
        let names = value.names()?;
        let mut is_first = true;
        for index in 0..names.len() {
            let name = names.at(index);
            let member = value.get(&name)?;
            if member.kind() == Kind::Undefined {
                continue;
            }
            if !is_first {
                self.put(b",")?;
            }
            is_first = false;
            name.with_text(|text| self.string(text))??;
            self.put(b":")?;
            let key = if member.is_object() { name.text()? } else { String::new() };
            self.value(&member, &key).map_err(|bad| bad.below(|| step(&name.text().unwrap_or_default())))?;
        }
        self.put(b"}")
    }

    /// `new Number(1)`, which is an object.
    fn boxed(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        let value_of = value.get_str("valueOf")?;
        if !value_of.is_function() {
            return Err(Unwritten::not_json("no plain object"));
        }
        let inner = value_of.call(value, &[])?;
        self.primitive(&inner)
    }

    fn number(&mut self, number: f64) -> Result<(), Unwritten> {
        if !number.is_finite() {
            return Err(Unwritten::not_json(format!(
                "`{}`",
                if number.is_nan() { "NaN" } else { "Infinity" }
            )));
        }
        // Whole numbers without a point, as JavaScript writes them; beyond 2^53 they are no more exact than a float.
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            return self.put((number as i64).to_string().as_bytes());
        }
        self.put(serde_json::Number::from_f64(number).map_or_else(String::new, |n| n.to_string()).as_bytes())
    }

    fn string(&mut self, text: &str) -> Result<(), Unwritten> {
        if text.len() > self.cap.saturating_sub(self.out.len()) {
            return Err(Unwritten::TooLarge);
        }
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.out, text);
        self.put(b"")
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Unwritten> {
        self.out.extend_from_slice(bytes);
        if self.out.len() > self.cap { Err(Unwritten::TooLarge) } else { Ok(()) }
    }
}

/// A property in a path: `.name`, or quoted where a dot would not do.
fn step(name: &str) -> String {
    let plain = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        return format!(".{name}");
    }
    let short: String = name.chars().take(64).collect();
    format!("[{short:?}]")
}
