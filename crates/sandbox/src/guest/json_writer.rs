//! Writes a value of the guest as JSON. The output is that of `JSON.stringify`, but a value that
//! has no JSON form is an error that names its path, where `JSON.stringify` silently drops it or
//! writes `null`. The one exception is the same as there: properties that are `undefined` are left
//! out.
//!
//! Code of the guest runs here only where the language prescribes it: getters, proxies, `toJSON`,
//! and the conversion of boxed numbers and strings. What kind of thing a value is comes from the
//! engine, because the guest may have replaced every function that could be asked.

use super::call_state::GuestCallState;
use super::engine::{JsAtom, JsContext, JsResult, JsValue, JsValueKind, PendingException};
use crate::limits::{MAX_DEPTH, max_parts, parts_of_byte};

/// Steps of a path that a message shows.
const MAX_PATH_SHOWN: usize = 16;
/// Characters of a property's name that a message shows.
const MAX_NAME_SHOWN: usize = 64;
/// Values between two looks at the time.
const VALUES_PER_TIME_CHECK: u32 = 1024;

/// The reason why a value could not be written.
pub(super) enum JsonWriteError {
    /// Code of the guest threw meanwhile; the exception is pending in the engine.
    Threw,
    /// A value has no JSON form.
    NotJson {
        /// The value in words, to be read behind "is".
        what: String,
        /// The way to it, from the inside out: `[3]`, then `.items`.
        path: Vec<String>,
    },
    /// The text is longer than the cap.
    TooLarge,
    /// The text has more parts than a reader of this many bytes accepts.
    TooManyParts,
    /// The time of the guest is up.
    TimeUp,
}

impl From<PendingException> for JsonWriteError {
    fn from(PendingException: PendingException) -> JsonWriteError {
        JsonWriteError::Threw
    }
}

impl JsonWriteError {
    fn not_json(what: impl Into<String>) -> JsonWriteError {
        JsonWriteError::NotJson { what: what.into(), path: Vec::new() }
    }

    /// Adds the step that leads from the surrounding value to the one in the error.
    fn within(mut self, step: impl FnOnce() -> String) -> JsonWriteError {
        if let JsonWriteError::NotJson { path, .. } = &mut self {
            path.push(step());
        }
        self
    }

    /// The message for a result: `the result is …` or `` `result.items[3]` is … ``.
    pub(super) fn message_for_result(what: &str, path: &[String]) -> String {
        if path.is_empty() {
            return format!("the result is {what}");
        }
        let steps: String = path.iter().rev().take(MAX_PATH_SHOWN).map(String::as_str).collect();
        let more = if path.len() > MAX_PATH_SHOWN { "…" } else { "" };
        format!("`result{steps}{more}` is {what}")
    }
}

/// Writes values, up to a number of bytes, parts and levels.
pub(super) struct GuestJsonWriter<'a, 'l, 'r> {
    out: Vec<u8>,
    /// Bytes of `out` at most.
    cap: usize,
    parts: usize,
    /// Levels at most. The writer recurses, so this also bounds its stack.
    depth: usize,
    /// The addresses of the objects around the current one. A value whose address is among them is
    /// part of a cycle; its length is the current level.
    ancestors: Vec<usize>,
    to_json: JsAtom<'r>,
    /// For the time: one object may be written again and again, through millions of references.
    state: &'a GuestCallState<'l>,
    values_written: u32,
    /// Whether values without a JSON form are named in brackets instead of being an error.
    is_for_log: bool,
}

impl<'a, 'l, 'r> GuestJsonWriter<'a, 'l, 'r> {
    fn new(
        js: JsContext<'r>,
        cap: usize,
        depth: usize,
        state: &'a GuestCallState<'l>,
    ) -> JsResult<GuestJsonWriter<'a, 'l, 'r>> {
        let to_json = js.atom("toJSON")?;
        Ok(GuestJsonWriter {
            out: Vec::new(),
            cap,
            parts: 0,
            depth,
            ancestors: Vec::new(),
            to_json,
            state,
            values_written: 0,
            is_for_log: false,
        })
    }

    /// One value, with at most `cap` bytes and `depth` levels.
    pub(super) fn write(
        value: &JsValue<'r>,
        cap: usize,
        depth: usize,
        state: &'a GuestCallState<'l>,
    ) -> Result<Vec<u8>, JsonWriteError> {
        GuestJsonWriter::new(value.js(), cap, depth, state)?.write_one(value)
    }

    /// One value for people to read: a value without a JSON form is named in brackets.
    pub(super) fn write_for_log(
        value: &JsValue<'r>,
        cap: usize,
        state: &'a GuestCallState<'l>,
    ) -> Result<Vec<u8>, JsonWriteError> {
        let writer = GuestJsonWriter::new(value.js(), cap, MAX_DEPTH, state)?;
        GuestJsonWriter { is_for_log: true, ..writer }.write_one(value)
    }

    fn write_one(mut self, value: &JsValue<'r>) -> Result<Vec<u8>, JsonWriteError> {
        self.value(value, || Ok(String::new()))?;
        Ok(self.out)
    }

    /// The arguments of a call to the host as a list; `undefined` becomes `null`. An error comes
    /// with the number of the argument, counted from 1.
    pub(super) fn write_arguments(
        js: JsContext<'r>,
        arguments: &[JsValue<'r>],
        state: &'a GuestCallState<'l>,
    ) -> Result<Vec<u8>, (usize, JsonWriteError)> {
        let at = |index: usize| move |error| (index + 1, error);
        // The list around the arguments is a level, too.
        let writer = GuestJsonWriter::new(js, state.output_limit, MAX_DEPTH - 1, state);
        let mut writer = writer.map_err(|PendingException| (0, JsonWriteError::Threw))?;
        writer.punctuation(b'[').map_err(at(0))?;
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                writer.punctuation(b',').map_err(at(index))?;
            }
            if argument.kind() == JsValueKind::Undefined {
                writer.put(b"null").map_err(at(index))?;
            } else {
                writer.value(argument, || Ok(index.to_string())).map_err(at(index))?;
            }
        }
        writer.punctuation(b']').map_err(at(arguments.len()))?;
        Ok(writer.out)
    }

    /// Writes a value, or what its `toJSON` returns. `key` is the name of the property that holds
    /// it, which `toJSON` receives.
    fn value(
        &mut self,
        value: &JsValue<'r>,
        key: impl FnOnce() -> JsResult<String>,
    ) -> Result<(), JsonWriteError> {
        match self.call_to_json(value, key)? {
            Some(replacement) => self.value_itself(&replacement),
            None => self.value_itself(value),
        }
    }

    /// What `toJSON` of a value returns; `None` if it has no such function. The replacement's own
    /// `toJSON` is not called, as the language has it.
    fn call_to_json(
        &self,
        value: &JsValue<'r>,
        key: impl FnOnce() -> JsResult<String>,
    ) -> JsResult<Option<JsValue<'r>>> {
        if !value.is_object() && value.kind() != JsValueKind::BigInt {
            return Ok(None);
        }
        let to_json = value.get(&self.to_json)?;
        if !to_json.is_function() {
            return Ok(None);
        }
        let key = value.js().string(&key()?)?;
        to_json.call(value, &[&key]).map(Some)
    }

    /// Writes a value without looking for `toJSON`.
    fn value_itself(&mut self, value: &JsValue<'r>) -> Result<(), JsonWriteError> {
        self.values_written = self.values_written.wrapping_add(1);
        if self.values_written.is_multiple_of(VALUES_PER_TIME_CHECK) && self.state.must_stop() {
            return Err(JsonWriteError::TimeUp);
        }
        let before = (self.out.len(), self.ancestors.len());
        let written = match value.kind() {
            JsValueKind::Object if value.is_function() => {
                Err(JsonWriteError::not_json("a function"))
            }
            JsValueKind::Object => self.object(value),
            _ => self.primitive(value),
        };
        match written {
            Err(JsonWriteError::NotJson { what, .. }) if self.is_for_log => {
                // Undo what was written of it, and name it: "a `Map`, which …" becomes `[Map]`.
                self.out.truncate(before.0);
                self.ancestors.truncate(before.1);
                let what = what.split(',').next().unwrap_or_default().replace('`', "");
                self.put(format!("[{}]", what.trim_start_matches("a ")).as_bytes())
            }
            written => written,
        }
    }

    /// Writes a value without properties.
    fn primitive(&mut self, value: &JsValue<'r>) -> Result<(), JsonWriteError> {
        match value.kind() {
            JsValueKind::Null => self.put(b"null"),
            JsValueKind::Bool(true) => self.put(b"true"),
            JsValueKind::Bool(false) => self.put(b"false"),
            JsValueKind::Number(number) => self.number(number),
            JsValueKind::String => value.with_text(|text| self.string(text))?,
            JsValueKind::Undefined => Err(JsonWriteError::not_json("`undefined`")),
            JsValueKind::BigInt => Err(JsonWriteError::not_json("a BigInt")),
            JsValueKind::Symbol => Err(JsonWriteError::not_json("a symbol")),
            JsValueKind::Object | JsValueKind::Internal => {
                Err(JsonWriteError::not_json("an internal value of the engine"))
            }
        }
    }

    /// Writes a value with properties that is not a function.
    fn object(&mut self, value: &JsValue<'r>) -> Result<(), JsonWriteError> {
        let address = value.address();
        if self.ancestors.contains(&address) {
            return Err(JsonWriteError::not_json("part of a cycle"));
        }
        if self.ancestors.len() == self.depth {
            let what = format!("nested deeper than {} levels", self.depth);
            return Err(JsonWriteError::not_json(what));
        }
        self.ancestors.push(address);
        if value.is_array() {
            self.list(value)?;
        } else {
            match value.class_name().as_deref() {
                Some("Object" | "Arguments") => self.members(value)?,
                // The language converts the first two by calling their methods, which the guest
                // may define, and reads the third from inside of the object.
                Some("Number") => self.number(value.to_number()?)?,
                Some("String") => self.primitive(&value.to_js_string()?)?,
                Some("Boolean") => self.primitive(&self.state.unbox_boolean(value)?)?,
                _ if value.is_proxy() => self.members(value)?,
                // `JSON.stringify` writes `{}` for all others, which is never what was meant.
                Some(class) => {
                    let what = format!("a `{class}`, which has no JSON form");
                    return Err(JsonWriteError::not_json(what));
                }
                None => return Err(JsonWriteError::not_json("an object of an unknown class")),
            }
        }
        self.ancestors.pop();
        Ok(())
    }

    /// Writes an array, hole by hole: the language reads a hole as `undefined`, which is an error
    /// here, so a sparse array of any length ends at its first hole.
    fn list(&mut self, value: &JsValue<'r>) -> Result<(), JsonWriteError> {
        self.punctuation(b'[')?;
        for index in 0..value.length()? {
            if index > 0 {
                self.punctuation(b',')?;
            }
            let item = value.get_index(index)?;
            self.value(&item, || Ok(index.to_string()))
                .map_err(|error| error.within(|| format!("[{index}]")))?;
        }
        self.punctuation(b']')
    }

    /// Writes the enumerable own properties of an object. The names are read once; a property that
    /// a getter deletes meanwhile reads as `undefined` and is left out.
    fn members(&mut self, value: &JsValue<'r>) -> Result<(), JsonWriteError> {
        let names = value.property_names()?;
        // An object that `JSON.rawJSON` made has this one property. It is rare, so that the engine
        // is asked only where it is possible.
        if names.len() == 1
            && names.at(0).with_text(|name, _| name == "rawJSON")?
            && self.state.is_raw_json(value)?
        {
            return value.get(&names.at(0))?.with_text(|text| self.raw_json(text))?;
        }
        self.punctuation(b'{')?;
        let mut is_first = true;
        for index in 0..names.len() {
            let name = names.at(index);
            let mut member = value.get(&name)?;
            // Before the name is written, because `toJSON` may return `undefined`.
            if let Some(replacement) = self.call_to_json(&member, || name.text())? {
                member = replacement;
            }
            if member.kind() == JsValueKind::Undefined {
                continue;
            }
            if !is_first {
                self.punctuation(b',')?;
            }
            is_first = false;
            name.with_text(|text, is_exact| match is_exact {
                true => self.string(text),
                // With U+FFFD for each lone surrogate, two keys could become the same.
                false => Err(JsonWriteError::not_json("an object with half a character in a key")),
            })??;
            self.punctuation(b':')?;
            self.value_itself(&member)
                .map_err(|error| error.within(|| path_step(&name.text().unwrap_or_default())))?;
        }
        self.punctuation(b'}')
    }

    /// Writes a number, which must be finite.
    fn number(&mut self, value: f64) -> Result<(), JsonWriteError> {
        if !value.is_finite() {
            return Err(JsonWriteError::not_json(format!("`{}`", number_text(value))));
        }
        self.put(number_text(value).as_bytes())
    }

    /// Writes the text of a raw JSON value. The engine has checked that it is a number, a string or
    /// a constant, and not that the parent can read it without changing it.
    fn raw_json(&mut self, text: &str) -> Result<(), JsonWriteError> {
        if text.len() > self.cap.saturating_sub(self.out.len()) {
            return Err(JsonWriteError::TooLarge);
        }
        let is_whole = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        match serde_json::from_str(text) {
            Ok(serde_json::Value::Number(number))
                if is_whole && number.is_f64() && text != "-0" =>
            {
                Err(JsonWriteError::not_json("a raw whole number of more than 64 bits"))
            }
            Ok(_) => self.put(text.as_bytes()),
            Err(_) => Err(JsonWriteError::not_json("raw JSON that cannot be read exactly")),
        }
    }

    /// Writes a string in quotes, with the escapes of JSON.
    fn string(&mut self, text: &str) -> Result<(), JsonWriteError> {
        // Before writing, so that a text far above the cap is not copied.
        if text.len() > self.cap.saturating_sub(self.out.len()) {
            return Err(JsonWriteError::TooLarge);
        }
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.out, text);
        // Quotes and escapes may have exceeded the cap.
        self.put(b"")
    }

    /// A bracket, brace, comma or colon. Parts are counted here, so the count agrees with
    /// `limits::count_parts`, which the parent uses.
    fn punctuation(&mut self, byte: u8) -> Result<(), JsonWriteError> {
        self.parts += parts_of_byte(byte);
        if self.parts > max_parts(self.cap) {
            return Err(JsonWriteError::TooManyParts);
        }
        self.put(&[byte])
    }

    /// Appends bytes. The text may exceed the cap by what is appended last; the caller stops then.
    fn put(&mut self, bytes: &[u8]) -> Result<(), JsonWriteError> {
        self.out.extend_from_slice(bytes);
        if self.out.len() > self.cap { Err(JsonWriteError::TooLarge) } else { Ok(()) }
    }
}

/// A number as JavaScript prints it, `NaN` and the infinities included.
///
/// The parent reads the text of a whole number into 64 bits if it fits, digit by digit, and any
/// other into the nearest `f64`, which is the number itself.
pub(super) fn number_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = value.abs();
    // The most common numbers first.
    if value.fract() == 0.0 && size <= 9_007_199_254_740_992.0 {
        return (value as i64).to_string();
    }
    // Fractions of ordinary size: `serde_json` writes them as JavaScript does, and is fast.
    if value.fract() != 0.0 && (1e-5..1e15).contains(&size) {
        return serde_json::Number::from_f64(value)
            .map_or_else(String::new, |number| number.to_string());
    }
    spread_digits(&format!("{value:e}"))
}

/// Turns `-1.2345e20` into what ECMAScript writes (Number::toString): digits up to 21 places before
/// the point and 6 zeros behind it, otherwise an exponent with its sign. Both writers find the
/// shortest digits that lead back to the number.
fn spread_digits(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits = mantissa.replace('.', "");
    // Places before the point.
    let places = exponent + 1;
    let count = digits.len() as i32;
    match places {
        1..=21 if places >= count => {
            format!("{sign}{digits}{}", "0".repeat((places - count) as usize))
        }
        1..=21 => {
            let (whole, fraction) = digits.split_at(places as usize);
            format!("{sign}{whole}.{fraction}")
        }
        -5..=0 => format!("{sign}0.{}{digits}", "0".repeat(-places as usize)),
        _ => format!("{sign}{mantissa}e{exponent:+}"),
    }
}

/// One step of a path: `.name`, or `["a name"]` if it is not an identifier.
fn path_step(name: &str) -> String {
    let is_part = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    if !name.is_empty() && name.len() <= MAX_NAME_SHOWN && name.chars().all(is_part) {
        return format!(".{name}");
    }
    let short: String = name.chars().take(MAX_NAME_SHOWN).collect();
    format!("[{short:?}]")
}

#[cfg(test)]
mod tests {
    use super::number_text;

    /// The texts are those of `JSON.stringify` in Node.
    #[test]
    fn numbers_are_written_as_javascript_does() {
        let powers = |exponent: i32| 2f64.powi(exponent);
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (powers(53), "9007199254740992"),
            (powers(53) + 2.0, "9007199254740994"),
            (powers(60), "1152921504606847000"),
            (-powers(60), "-1152921504606847000"),
            (powers(63), "9223372036854776000"),
            (powers(64), "18446744073709552000"),
            (1e16, "10000000000000000"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (powers(70), "1.1805916207174113e+21"),
            (-1.5e300, "-1.5e+300"),
            (f64::MAX, "1.7976931348623157e+308"),
            (1e15 + 0.5, "1000000000000000.5"),
            (4.35, "4.35"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.00001, "0.00001"),
            (0.000001, "0.000001"),
            (-0.0000015, "-0.0000015"),
            (0.0000001, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number_text(number), expected);
        }
    }
}
