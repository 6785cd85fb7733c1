//! A guest's value as JSON. Like `JSON.stringify` in what it writes, unlike it in what it drops:
//! what has no JSON is an error with its place, but for properties that are `undefined`, which are
//! left out. The guest's code runs here only where the language says so (getters, proxies,
//! `toJSON`); none of its functions is asked what anything is.

use super::js::{Atom, Js, Kind, Outcome, Pending, Value};
use super::state::State;
use crate::limits::{MAX_DEPTH, max_parts, weight};

/// How much of a path is told.
const STEPS: usize = 16;

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
    /// It has more parts than its reader can bear.
    TooManyParts,
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
        let steps: String = path.iter().rev().take(STEPS).map(String::as_str).collect();
        let more = if path.len() > STEPS { "…" } else { "" };
        format!("`result{steps}{more}` is {what}")
    }
}

/// Writes values up to a number of bytes.
pub(super) struct Writer<'a, 'l, 'r> {
    out: Vec<u8>,
    cap: usize,
    parts: usize,
    depth: usize,
    /// The objects around the one that is written: a cycle leads back to one of them.
    around: Vec<usize>,
    to_json: Atom<'r>,
    /// Asked now and then whether time is up: no code of the guest may run for long here.
    state: &'a State<'l>,
    written: u32,
    /// Whether what has no JSON is named in its place, for people to read.
    names_the_rest: bool,
}

impl<'a, 'l, 'r> Writer<'a, 'l, 'r> {
    fn new(
        js: Js<'r>,
        cap: usize,
        depth: usize,
        state: &'a State<'l>,
    ) -> Outcome<Writer<'a, 'l, 'r>> {
        let to_json = js.atom("toJSON")?;
        Ok(Writer {
            out: Vec::new(),
            cap,
            parts: 0,
            depth,
            around: Vec::new(),
            to_json,
            state,
            written: 0,
            names_the_rest: false,
        })
    }

    /// One value, of at most `cap` bytes and `depth` levels.
    pub(super) fn write(
        value: &Value<'r>,
        cap: usize,
        depth: usize,
        state: &'a State<'l>,
    ) -> Result<Vec<u8>, Unwritten> {
        Writer::new(value.js(), cap, depth, state)?.whole(value)
    }

    /// One value as people read it: what has no JSON is named in brackets.
    pub(super) fn show(
        value: &Value<'r>,
        cap: usize,
        state: &'a State<'l>,
    ) -> Result<Vec<u8>, Unwritten> {
        let writer = Writer::new(value.js(), cap, MAX_DEPTH, state)?;
        Writer { names_the_rest: true, ..writer }.whole(value)
    }

    fn whole(mut self, value: &Value<'r>) -> Result<Vec<u8>, Unwritten> {
        self.value(value, || Ok(String::new()))?;
        Ok(self.out)
    }

    /// A list of arguments, where `undefined` is `null`. What went wrong comes with the number of
    /// the argument.
    pub(super) fn write_arguments(
        js: Js<'r>,
        arguments: &[Value<'r>],
        state: &'a State<'l>,
    ) -> Result<Vec<u8>, (usize, Unwritten)> {
        let at = |index: usize| move |bad| (index + 1, bad);
        let writer = Writer::new(js, state.output, MAX_DEPTH - 1, state);
        let mut writer = writer.map_err(|Pending| (0, Unwritten::Threw))?;
        writer.mark(b'[').map_err(at(0))?;
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                writer.mark(b',').map_err(at(index))?;
            }
            if argument.kind() == Kind::Undefined {
                writer.put(b"null").map_err(at(index))?;
            } else {
                writer.value(argument, || Ok(index.to_string())).map_err(at(index))?;
            }
        }
        writer.mark(b']').map_err(at(arguments.len()))?;
        Ok(writer.out)
    }

    fn value(
        &mut self,
        value: &Value<'r>,
        key: impl FnOnce() -> Outcome<String>,
    ) -> Result<(), Unwritten> {
        match self.replacement(value, key)? {
            Some(replaced) => self.plain(&replaced),
            None => self.plain(value),
        }
    }

    /// What `toJSON` gives, if there is one. It is not asked again.
    fn replacement(
        &self,
        value: &Value<'r>,
        key: impl FnOnce() -> Outcome<String>,
    ) -> Outcome<Option<Value<'r>>> {
        if !value.is_object() || value.is_function() {
            return Ok(None);
        }
        let to_json = value.get(&self.to_json)?;
        if !to_json.is_function() {
            return Ok(None);
        }
        let key = value.js().string(&key()?)?;
        to_json.call(value, &[&key]).map(Some)
    }

    fn plain(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        self.written = self.written.wrapping_add(1);
        if self.written.is_multiple_of(1024) && self.state.is_over() {
            return Err(Unwritten::Late);
        }
        let before = (self.out.len(), self.around.len());
        let written = match value.kind() {
            Kind::Object if value.is_function() => Err(Unwritten::not_json("a function")),
            Kind::Object => self.structure(value),
            _ => self.primitive(value),
        };
        match written {
            Err(Unwritten::NotJson { what, .. }) if self.names_the_rest => {
                self.out.truncate(before.0);
                self.around.truncate(before.1);
                let what = what.split(',').next().unwrap_or_default().replace('`', "");
                self.put(format!("[{}]", what.trim_start_matches("a ")).as_bytes())
            }
            written => written,
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

    fn structure(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        let address = value.address();
        if self.around.contains(&address) {
            return Err(Unwritten::not_json("part of a cycle"));
        }
        if self.around.len() == self.depth {
            return Err(Unwritten::not_json(format!("nested deeper than {} levels", self.depth)));
        }
        self.around.push(address);
        if value.is_array() {
            self.array(value)?;
        } else {
            match value.class_name().as_deref() {
                Some("Object" | "Arguments") => self.members(value)?,
                // Of these three the language asks the object for its value, but for the last.
                Some("Number") => self.number(value.to_number()?)?,
                Some("String") => self.primitive(&value.to_js_string()?)?,
                Some("Boolean") => self.primitive(&self.state.unboxed(value)?)?,
                _ if value.is_proxy() => self.members(value)?,
                Some(class) => {
                    return Err(Unwritten::not_json(format!("a `{class}`, which has no JSON")));
                }
                None => return Err(Unwritten::not_json("no plain object")),
            }
        }
        self.around.pop();
        Ok(())
    }

    fn array(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        self.mark(b'[')?;
        for index in 0..value.length()? {
            if index > 0 {
                self.mark(b',')?;
            }
            let item = value.get_index(index)?;
            self.value(&item, || Ok(index.to_string()))
                .map_err(|bad| bad.below(|| format!("[{index}]")))?;
        }
        self.mark(b']')
    }

    fn members(&mut self, value: &Value<'r>) -> Result<(), Unwritten> {
        self.mark(b'{')?;
        let names = value.names()?;
        let mut is_first = true;
        for index in 0..names.len() {
            let name = names.at(index);
            let mut member = value.get(&name)?;
            if let Some(replaced) = self.replacement(&member, || name.text())? {
                member = replaced;
            }
            if member.kind() == Kind::Undefined {
                continue;
            }
            if !is_first {
                self.mark(b',')?;
            }
            is_first = false;
            name.with_text(|text, is_whole| match is_whole {
                true => self.string(text),
                // Two such names may become the same.
                false => Err(Unwritten::not_json("an object with half a character in a key")),
            })??;
            self.mark(b':')?;
            self.plain(&member)
                .map_err(|bad| bad.below(|| step(&name.text().unwrap_or_default())))?;
        }
        self.mark(b'}')
    }

    fn number(&mut self, value: f64) -> Result<(), Unwritten> {
        if !value.is_finite() {
            return Err(Unwritten::not_json(format!("`{}`", number(value))));
        }
        self.put(number(value).as_bytes())
    }

    fn string(&mut self, text: &str) -> Result<(), Unwritten> {
        if text.len() > self.cap.saturating_sub(self.out.len()) {
            return Err(Unwritten::TooLarge);
        }
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.out, text);
        self.put(b"")
    }

    /// Punctuation, which is where parts are counted.
    fn mark(&mut self, byte: u8) -> Result<(), Unwritten> {
        self.parts += weight(byte);
        if self.parts > max_parts(self.cap) {
            return Err(Unwritten::TooManyParts);
        }
        self.put(&[byte])
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Unwritten> {
        self.out.extend_from_slice(bytes);
        if self.out.len() > self.cap { Err(Unwritten::TooLarge) } else { Ok(()) }
    }
}

/// A number as JavaScript writes it.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Whole numbers without a point; beyond 2^53 they are no more exact than a float.
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        return (value as i64).to_string();
    }
    serde_json::Number::from_f64(value).map_or_else(String::new, |number| number.to_string())
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
