//! JSON Pointer (RFC 6901), in two types that cannot be mixed up.
//!
//! A definition is read into a record that is shaped differently: what a document keeps at
//! `/server/health_check`, the record keeps at `/items/0/binding/healthCheck`. A path into the one
//! means nothing in the other, so they are two types over one implementation:
//!
//! ```text
//! readers ─ DocumentPath ─▶ Finding<InDocument> ────────────────────────▶ locate ─▶ Diagnostic
//! rules   ─ RecordPath   ─▶ Finding<InRecord> ─ Origin::in_document (only here) ─▲
//! ```

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::marker::PhantomData;

/// Marks paths into a document, as its author wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InDocument;

/// Marks paths into the record that a reader made of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InRecord;

/// A path into a document.
pub type DocumentPath = Pointer<InDocument>;

/// A path into a record.
pub type RecordPath = Pointer<InRecord>;

/// A path into a `Space`: `""` is the whole, `/items/0/name` a value inside it.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer<Space = InDocument>(Box<str>, PhantomData<Space>);

// By hand, because the derived one would ask for `Space: Clone`.
impl<Space> Clone for Pointer<Space> {
    fn clone(&self) -> Self {
        Pointer(self.0.clone(), PhantomData)
    }
}

impl<Space> Pointer<Space> {
    /// Wraps text whose tokens are escaped already.
    fn from_escaped(text: impl Into<Box<str>>) -> Self {
        Pointer(text.into(), PhantomData)
    }

    /// The whole document or record.
    pub fn root() -> Self {
        Pointer::from_escaped("")
    }

    /// Parses the text of a JSON Pointer; `None` if it does not begin with `/` or has a `~` that is
    /// not part of `~0` or `~1`.
    pub fn parse(text: &str) -> Option<Self> {
        let escapes_ok = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        let ok = escapes_ok && (text.is_empty() || text.starts_with('/'));
        ok.then(|| Pointer::from_escaped(text))
    }

    /// The pointer to member `token` below this one; `token` is not escaped yet.
    #[must_use]
    pub fn child(&self, token: impl PointerToken) -> Self {
        Pointer::below_text(&self.0, [token.text()].into_iter())
    }

    /// The pointer to what is reached from the root by `tokens`, none of them escaped yet.
    pub fn path(tokens: &[&dyn PointerToken]) -> Self {
        Pointer::of(tokens.iter().map(|token| token.text()))
    }

    /// The path of `tokens` from the root down, none of them escaped yet.
    pub(crate) fn of<'t>(tokens: impl Iterator<Item = Cow<'t, str>> + Clone) -> Self {
        Pointer::below_text("", tokens)
    }

    /// Appends escaped tokens to `start`. The length is computed first, because pointers are made
    /// by the dozen for every document and a growing string would be copied for each.
    fn below_text<'t>(start: &str, tokens: impl Iterator<Item = Cow<'t, str>> + Clone) -> Self {
        let len = start.len() + tokens.clone().map(|token| 1 + token.len()).sum::<usize>();
        let mut text = String::with_capacity(len);
        text.push_str(start);
        for token in tokens {
            text.push('/');
            text.push_str(&escape_token(&token));
        }
        Pointer::from_escaped(text)
    }

    /// The path of `rest` below this one.
    #[must_use]
    pub fn join(&self, rest: &Self) -> Self {
        self.join_text(&rest.0)
    }

    /// [`Pointer::join`] for text whose tokens are escaped already.
    pub(crate) fn join_text(&self, rest: &str) -> Self {
        Pointer::from_escaped([&self.0, rest].concat())
    }

    /// The pointer without its last token; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rfind('/').map(|at| Pointer::from_escaped(&self.0[..at]))
    }

    /// The last token, unescaped.
    pub fn last(&self) -> Option<Cow<'_, str>> {
        self.0.rfind('/').map(|at| unescape_token(&self.0[at + 1..]))
    }

    /// The tokens from the root down, unescaped.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescape_token)
    }

    /// The path that remains below `prefix`, if this pointer lies at or below it. `/items/12` does
    /// not lie below `/items/1`.
    pub fn below(&self, prefix: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(&*prefix.0)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| Pointer::from_escaped(rest))
    }

    /// The pointer as RFC 6901 writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A step of a pointer: a key of an object, or an index of a list.
pub trait PointerToken {
    /// Its text, not escaped.
    fn text(&self) -> Cow<'_, str>;
}

impl PointerToken for str {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl PointerToken for String {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl PointerToken for Cow<'_, str> {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl PointerToken for usize {
    fn text(&self) -> Cow<'_, str> {
        // Most lists are short.
        match "0123456789".get(*self..=*self) {
            Some(digit) => Cow::Borrowed(digit),
            None => Cow::Owned(self.to_string()),
        }
    }
}

impl<T: PointerToken + ?Sized> PointerToken for &T {
    fn text(&self) -> Cow<'_, str> {
        (*self).text()
    }
}

/// Encodes a token by RFC 6901, section 3. `~` first, or the `~` of `~1` would be escaped again.
pub fn escape_token(token: &str) -> Cow<'_, str> {
    if token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        Cow::Owned(token.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Decodes a token. `~1` first: RFC 6901 reads `~01` as `~1`, not as `/`.
pub fn unescape_token(token: &str) -> Cow<'_, str> {
    if token.as_bytes().contains(&b'~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Pointers are ordered, compared and hashed as their text (the derived implementations above do
/// the same), which lets `Origin` look up a path by a slice of another one.
impl<Space> Borrow<str> for Pointer<Space> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<Space> fmt::Display for Pointer<Space> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_escaped_on_the_way_in_and_unescaped_on_the_way_out() {
        let pointer = RecordPath::root().child("a/b").child("~").child(3).child("");
        assert_eq!(pointer.as_str(), "/a~1b/~0/3/");
        assert_eq!(pointer.tokens().collect::<Vec<_>>(), ["a/b", "~", "3", ""]);
        assert_eq!(pointer.last().as_deref(), Some(""));
        assert_eq!(pointer.parent().map(|p| p.to_string()).as_deref(), Some("/a~1b/~0/3"));
        assert_eq!(RecordPath::root().parent(), None);
        assert_eq!(RecordPath::root().tokens().count(), 0);
    }

    #[test]
    fn below_respects_token_boundaries() {
        let p = |s| RecordPath::parse(s).expect("a pointer");
        assert_eq!(p("/items/1/name").below(&p("/items/1")), Some(p("/name")));
        assert_eq!(p("/items/12").below(&p("/items/1")), None);
        assert_eq!(p("/a").below(&p("/a")), Some(p("")));
        assert_eq!(p("/a").join(&p("/b")), p("/a/b"));
        for bad in ["a", "/~2", "/~"] {
            assert_eq!(RecordPath::parse(bad), None, "{bad}");
        }
    }
}
