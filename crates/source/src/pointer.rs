//! JSON Pointer (RFC 6901): the one type for paths into documents and records.

use std::borrow::Cow;
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
    pub fn child(&self, token: impl fmt::Display) -> Pointer {
        let mut text = format!("{}/{token}", self.0);
        let start = self.0.len() + 1;
        if text[start..].contains(['~', '/']) {
            let escaped = text[start..].replace('~', "~0").replace('/', "~1");
            text.replace_range(start.., &escaped);
        }
        Pointer(text.into())
    }

    /// The path of `rest` below this one.
    #[must_use]
    pub fn join(&self, rest: &Pointer) -> Pointer {
        Pointer(format!("{}{}", self.0, rest.0).into())
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

fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
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
