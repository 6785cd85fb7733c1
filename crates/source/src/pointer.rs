//! JSON Pointer (RFC 6901): the one type for paths into documents and records.

use std::borrow::{Borrow, Cow};
use std::fmt;

/// A path into a document: `""` is the whole, `/tools/0/name` a value inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(Box<str>);

impl Pointer {
    /// The whole document.
    pub fn root() -> Pointer {
        Pointer::default()
    }

    /// Takes text that is a JSON Pointer already; `None` if it is not.
    pub fn parse(text: &str) -> Option<Pointer> {
        let escapes_ok = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        let ok = escapes_ok && (text.is_empty() || text.starts_with('/'));
        ok.then(|| Pointer(text.into()))
    }

    /// The pointer to member `token` below this one; `token` is not escaped yet.
    #[must_use]
    pub fn child(&self, token: impl Token) -> Pointer {
        Pointer::below_text(&self.0, [token.text()].into_iter())
    }

    /// The pointer to what is reached from the root by `tokens`, none of them escaped yet.
    pub fn path(tokens: &[&dyn Token]) -> Pointer {
        Pointer::of(tokens.iter().map(|token| token.text()))
    }

    /// The path of `tokens` from the root down, none of them escaped yet.
    pub(crate) fn of<'t>(tokens: impl Iterator<Item = Cow<'t, str>> + Clone) -> Pointer {
        Pointer::below_text("", tokens)
    }

    /// In one piece of the right size: pointers are made by the dozen for every document.
    fn below_text<'t>(start: &str, tokens: impl Iterator<Item = Cow<'t, str>> + Clone) -> Pointer {
        let len = start.len() + tokens.clone().map(|token| 1 + token.len()).sum::<usize>();
        let mut text = String::with_capacity(len);
        text.push_str(start);
        for token in tokens {
            text.push('/');
            if token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
                text.push_str(&token.replace('~', "~0").replace('/', "~1"));
            } else {
                text.push_str(&token);
            }
        }
        Pointer(text.into())
    }

    /// The path of `rest` below this one.
    #[must_use]
    pub fn join(&self, rest: &Pointer) -> Pointer {
        self.join_text(&rest.0)
    }

    /// The same for a path that is escaped already.
    pub(crate) fn join_text(&self, rest: &str) -> Pointer {
        Pointer([&self.0, rest].concat().into())
    }

    /// The pointer without its last token; `None` for the root.
    pub fn parent(&self) -> Option<Pointer> {
        self.0.rfind('/').map(|at| Pointer(self.0[..at].into()))
    }

    /// The last token, unescaped.
    pub fn last(&self) -> Option<Cow<'_, str>> {
        self.0.rfind('/').map(|at| unescape(&self.0[at + 1..]))
    }

    /// The tokens from the root down, unescaped.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescape)
    }

    /// What remains below `prefix`, if this pointer lies at or below it.
    pub fn below(&self, prefix: &Pointer) -> Option<Pointer> {
        let rest = self.0.strip_prefix(&*prefix.0)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| Pointer(rest.into()))
    }

    /// The pointer as RFC 6901 writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What can be a step of a pointer: a key, or a place in a list.
pub trait Token {
    /// Its text, not escaped.
    fn text(&self) -> Cow<'_, str>;
}

impl Token for str {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Token for String {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Token for Cow<'_, str> {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Token for usize {
    fn text(&self) -> Cow<'_, str> {
        // Most lists are short.
        match "0123456789".get(*self..=*self) {
            Some(digit) => Cow::Borrowed(digit),
            None => Cow::Owned(self.to_string()),
        }
    }
}

impl<T: Token + ?Sized> Token for &T {
    fn text(&self) -> Cow<'_, str> {
        (*self).text()
    }
}

pub(crate) fn unescape(token: &str) -> Cow<'_, str> {
    if token.as_bytes().contains(&b'~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Pointers are ordered and hashed as their text.
impl Borrow<str> for Pointer {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_escaped_on_the_way_in_and_unescaped_on_the_way_out() {
        let pointer = Pointer::root().child("a/b").child("~").child(3).child("");
        assert_eq!(pointer.as_str(), "/a~1b/~0/3/");
        assert_eq!(pointer.tokens().collect::<Vec<_>>(), ["a/b", "~", "3", ""]);
        assert_eq!(pointer.last().as_deref(), Some(""));
        assert_eq!(pointer.parent().map(|p| p.to_string()).as_deref(), Some("/a~1b/~0/3"));
        assert_eq!(Pointer::root().parent(), None);
        assert_eq!(Pointer::root().tokens().count(), 0);
    }

    #[test]
    fn below_respects_token_boundaries() {
        let p = |s| Pointer::parse(s).expect("a pointer");
        assert_eq!(p("/tools/1/name").below(&p("/tools/1")), Some(p("/name")));
        assert_eq!(p("/tools/12").below(&p("/tools/1")), None);
        assert_eq!(p("/a").below(&p("/a")), Some(p("")));
        assert_eq!(p("/a").join(&p("/b")), p("/a/b"));
        for bad in ["a", "/~2", "/~"] {
            assert_eq!(Pointer::parse(bad), None, "{bad}");
        }
    }
}
