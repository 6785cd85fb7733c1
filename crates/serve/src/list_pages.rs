//! Pages of lists. A page ends after a number of items or after 1 MiB, because some clients refuse
//! larger messages.
//!
//! A cursor names the last item of the page before, so it stays valid when the list changes: lists
//! with a sort key go on after that key, other lists after that item. If the item is gone, the
//! cursor is refused and the client starts again.
//!
//! ```text
//! cursor = hex("tools\0" + key of the last item) + "." + hash of it
//! ```

use toolwright_mcp::RpcError;
use toolwright_model::{hex, short_hash};

use crate::request_params::invalid_params;

/// The largest page, in bytes of JSON. One item can be larger and is then a page of its own.
const MAX_PAGE_BYTES: usize = 1 << 20;

/// A list that is paged: its items as JSON text, each with its key.
///
/// The caller has left out what this client may not see.
pub(crate) struct PagedList<'l> {
    /// The name of the list in cursors.
    pub(crate) name: &'static str,
    /// The member of the result.
    pub(crate) member: &'static str,
    pub(crate) items: &'l [(String, std::borrow::Cow<'l, str>)],
    /// Whether the items are sorted by key.
    pub(crate) is_sorted: bool,
}

impl PagedList<'_> {
    /// The page after `cursor` as the JSON text of a result, with `more` members, which are text
    /// such as `"ttlMs":0`.
    ///
    /// # Errors
    /// If the cursor is not one of this list, or its item is gone.
    ///
    /// Built as text, since the items are text already. Only the last page has no `nextCursor`.
    pub(crate) fn page(
        &self,
        cursor: Option<&str>,
        page_size: usize,
        more: &[&str],
    ) -> Result<String, RpcError> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.start_after(cursor)?,
        };
        let mut bytes = 0;
        let page: Vec<&(String, std::borrow::Cow<'_, str>)> = self.items[start..]
            .iter()
            .take(page_size.max(1))
            .enumerate()
            .take_while(|(n, (_, item))| {
                bytes += item.len() + 1;
                *n == 0 || bytes <= MAX_PAGE_BYTES
            })
            .map(|(_, item)| item)
            .collect();
        let mut text = String::with_capacity(bytes.min(MAX_PAGE_BYTES) + 256);
        text.push('{');
        for member in more {
            text.push_str(member);
            text.push(',');
        }
        text.push_str(&format!("\"{}\":[", self.member));
        for (n, (_, item)) in page.iter().enumerate() {
            if n > 0 {
                text.push(',');
            }
            text.push_str(item);
        }
        text.push(']');
        if start + page.len() < self.items.len()
            && let Some((last, _)) = page.last()
        {
            text.push_str(&format!(",\"nextCursor\":\"{}\"", self.cursor_of(last)));
        }
        text.push('}');
        Ok(text)
    }

    /// The hash tells cursors of this program from other texts. It does not protect anything: a
    /// client may name any item.
    fn cursor_of(&self, key: &str) -> String {
        let named = format!("{}\0{key}", self.name);
        format!("{}.{:08x}", hex(named.as_bytes()), short_hash(&named))
    }

    /// The index of the first item after the one that a cursor names.
    ///
    /// A sorted list goes on after the key even if the item is gone.
    fn start_after(&self, cursor: &str) -> Result<usize, RpcError> {
        let refused = |why: &str| {
            let shown: String = cursor.chars().take(80).collect();
            Err(invalid_params(format!("`{shown}` is not a cursor of this list{why}")))
        };
        let Some(named) = decode(cursor) else { return refused("") };
        let Some(key) = named.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('\0'))
        else {
            return refused("");
        };
        if self.is_sorted {
            return Ok(self.items.partition_point(|(known, _)| known.as_str() <= key));
        }
        match self.items.iter().position(|(known, _)| known == key) {
            Some(n) => Ok(n + 1),
            None => refused(" any more: the list has changed, so start again"),
        }
    }
}

/// The text that a cursor encodes; `None` if this program did not make it.
fn decode(cursor: &str) -> Option<String> {
    let (hex, hash) = cursor.split_once('.')?;
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    let bytes = (0..hex.len()).step_by(2).map(|n| u8::from_str_radix(&hex[n..n + 2], 16).ok());
    let named = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    (format!("{:08x}", short_hash(&named)) == hash).then_some(named)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::Value as Json;

    use super::*;

    type Items = Vec<(String, Cow<'static, str>)>;

    fn items(keys: impl IntoIterator<Item = u32>) -> Items {
        keys.into_iter().map(|n| (format!("k{n:04}"), n.to_string().into())).collect()
    }

    fn list(items: &Items, is_sorted: bool) -> PagedList<'_> {
        PagedList { name: "tools", member: "tools", items, is_sorted }
    }

    fn read(page: &str) -> (Vec<u64>, Option<String>) {
        let page: Json = serde_json::from_str(page).expect("JSON");
        let items = page["tools"].as_array().expect("a list");
        let cursor = page["nextCursor"].as_str().map(str::to_owned);
        (items.iter().filter_map(Json::as_u64).collect(), cursor)
    }

    #[test]
    fn all_pages_together_are_the_list() {
        let all = items(0..450);
        let list = list(&all, true);
        let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = list.page(cursor.as_deref(), 200, &["\"ttlMs\":0"]).expect("a page");
            assert!(page.starts_with("{\"ttlMs\":0,\"tools\":["));
            let (items, next) = read(&page);
            seen.extend(items);
            pages += 1;
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((seen, pages), ((0..450).collect(), 3));
    }

    #[test]
    fn pages_are_at_most_a_mebibyte_and_never_empty() {
        let big = |n: u32| (format!("k{n}"), Cow::from(format!("\"{}\"", "x".repeat(700_000))));
        let all: Items = (0..3).map(big).collect();
        let page = list(&all, true).page(None, 200, &[]).expect("a page");
        assert_eq!(page.matches("xx\"").count(), 1);
        assert!(page.contains("nextCursor"));
    }

    #[test]
    fn cursors_survive_changes_of_the_list_or_are_refused() {
        let before = items(0..10);
        let (_, cursor) = read(&list(&before, true).page(None, 4, &[]).expect("a page"));
        let cursor = cursor.expect("there is more");
        let after: Items = items((0..10).filter(|n| *n != 3));
        let (rest, _) = read(&list(&after, true).page(Some(&cursor), 100, &[]).expect("a page"));
        assert_eq!(rest, (4..10).collect::<Vec<_>>());
        assert!(list(&after, false).page(Some(&cursor), 100, &[]).is_err());
        assert!(list(&before, false).page(Some(&cursor), 100, &[]).is_ok());
        let other = PagedList { name: "prompts", ..list(&before, true) };
        for nonsense in [cursor.as_str(), "nonsense", "", "é.00", "6.1", "00.00000000"] {
            let refused = other.page(Some(nonsense), 4, &[]).expect_err(nonsense);
            assert_eq!(refused.code, -32602);
        }
    }
}
