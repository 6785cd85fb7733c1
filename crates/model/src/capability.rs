//! Capabilities: what a tool needs and a person grants, with the risk of granting it.
//!
//! The form, the risks and the implications are those of the BTCP specification; three names were
//! added for tools that are run outside a browser, and three for what tools state in annotations. A
//! name that is not in the table is legal, because hosts may define their own, but counts as a high
//! risk.

use std::collections::BTreeSet;
use std::fmt;

/// How much harm a capability can do, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Reads what is on the page.
    Low,
    /// Changes what is on the page.
    Medium,
    /// Reaches beyond the page, or is not in the table.
    High,
    /// Reaches the person or the machine: camera, cookies, processes.
    Critical,
}

impl Risk {
    /// The name in lower case, as it is shown and configured.
    pub fn name(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        }
    }
}

/// `category:action` or `category:action:scope`, such as `network:fetch:same-origin`. The form has
/// been checked; the name may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(Box<str>);

/// The text does not have the form of a capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a capability is two or three lower-case words joined by `:`, such as `dom:read`")]
pub struct CapabilityError;

/// The capabilities with a defined meaning: name, risk, and what a tool can do with it, in words
/// that complete "it may …". Those of BTCP come first, in the order of its specification; the last
/// three are ours.
const KNOWN: &[(&str, Risk, &str)] = &[
    ("dom:read", Risk::Low, "read what is on the page"),
    ("dom:write", Risk::Medium, "change what is on the page"),
    ("dom:observe", Risk::Low, "watch the page for changes"),
    ("dom:shadow", Risk::Medium, "reach into the closed parts of page components"),
    ("storage:local:read", Risk::Low, "read what the page keeps in the browser"),
    ("storage:local:write", Risk::Medium, "change what the page keeps in the browser"),
    ("storage:session:read", Risk::Low, "read what the page keeps for this tab"),
    ("storage:session:write", Risk::Medium, "change what the page keeps for this tab"),
    ("storage:indexed:read", Risk::Medium, "read the databases of the page"),
    ("storage:indexed:write", Risk::High, "change the databases of the page"),
    ("storage:cookie:read", Risk::High, "read cookies, which may hold your login"),
    ("storage:cookie:write", Risk::Critical, "change cookies, and so your login"),
    ("network:fetch:same-origin", Risk::Medium, "send requests to the site of the page, as you"),
    ("network:fetch:cross-origin", Risk::High, "send requests to any site"),
    (
        "network:websocket:same-origin",
        Risk::Medium,
        "open connections to the site of the page, as you",
    ),
    ("network:websocket:cross-origin", Risk::High, "open connections to any site"),
    ("clipboard:read", Risk::High, "read what you have copied"),
    ("clipboard:write", Risk::Medium, "replace what you have copied"),
    ("media:camera", Risk::Critical, "see through the camera"),
    ("media:microphone", Risk::Critical, "listen through the microphone"),
    ("media:screen", Risk::Critical, "see the screen"),
    ("page:navigate", Risk::Medium, "open other pages"),
    ("page:full", Risk::Critical, "do anything on the page that you can do"),
    ("process:spawn", Risk::Critical, "start programs on this machine, with your rights"),
    ("mcp:connect", Risk::High, "start or connect to the MCP server that its definition names"),
    ("tool:call", Risk::High, "call other tools"),
];

/// What `[policy] need_grant` puts under a grant: properties that a tool states of itself, not
/// capabilities that a definition can declare.
const OF_ANNOTATIONS: &[(&str, Risk, &str)] = &[
    ("tool:destructive", Risk::High, "delete or overwrite data, as it states itself"),
    ("tool:openworld", Risk::High, "reach people and systems outside, as it states itself"),
    ("tool:unmarked", Risk::Medium, "change something: it does not state that it only reads"),
];

/// A grant of the first includes the second. There are no others: `clipboard:write` does not
/// include `clipboard:read`.
const IMPLIED: &[(&str, &str)] = &[
    ("dom:write", "dom:read"),
    ("storage:local:write", "storage:local:read"),
    ("storage:session:write", "storage:session:read"),
    ("storage:indexed:write", "storage:indexed:read"),
    ("network:fetch:cross-origin", "network:fetch:same-origin"),
];

/// Prefixes of capabilities that only a page in a browser has (btcp seed, Capabilities).
const PAGE_PREFIXES: &[&str] = &["dom:", "storage:", "network:", "clipboard:", "media:", "page:"];

impl Capability {
    /// Whether only a page in a browser has it.
    pub fn needs_page(&self) -> bool {
        PAGE_PREFIXES.iter().any(|prefix| self.as_str().starts_with(prefix))
    }

    /// Whether it is the page itself: code that has it is held to nothing there.
    pub fn is_full_page(&self) -> bool {
        self.as_str() == "page:full"
    }

    /// Checks the form (`^[a-z]+:[a-z]+(:[a-z-]+)?$`), not whether the name is known.
    pub fn parse(text: &str) -> Result<Capability, CapabilityError> {
        let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
        let scope = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        };
        let parts: Vec<&str> = text.split(':').collect();
        let ok = match parts[..] {
            [category, action] => word(category) && word(action),
            [category, action, last] => word(category) && word(action) && scope(last),
            _ => false,
        };
        if ok { Ok(Capability(text.into())) } else { Err(CapabilityError) }
    }

    /// The capability as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The row of the tables, if the name is there.
    fn row(&self) -> Option<&'static (&'static str, Risk, &'static str)> {
        KNOWN.iter().chain(OF_ANNOTATIONS).find(|(name, ..)| *name == &*self.0)
    }

    /// Whether the name has a defined meaning in a definition. The check UNKNOWN_CAPABILITY reports
    /// others.
    pub fn is_known(&self) -> bool {
        KNOWN.iter().any(|(name, ..)| *name == &*self.0)
    }

    /// The names that definitions can declare, for suggestions.
    pub fn all_known() -> impl Iterator<Item = &'static str> + Clone {
        KNOWN.iter().map(|(name, ..)| *name)
    }

    /// Everything that can be granted: the known names, and what the policy makes of annotations.
    pub fn all_grantable() -> impl Iterator<Item = &'static str> + Clone {
        KNOWN.iter().chain(OF_ANNOTATIONS).map(|(name, ..)| *name)
    }

    /// The risk of granting it. Unknown names are [`Risk::High`]: what a host means by them could
    /// be anything.
    pub fn risk(&self) -> Risk {
        self.row().map_or(Risk::High, |(_, risk, _)| *risk)
    }

    /// What a tool can do with it, in words that complete "it may …".
    pub fn meaning(&self) -> &'static str {
        self.row().map_or("do something that only its host defines", |(.., meaning)| meaning)
    }

    /// The capability that a grant of this one includes. There is at most one, and it implies no
    /// other.
    pub fn implied(&self) -> Option<Capability> {
        let found = IMPLIED.iter().find(|(from, _)| *from == &*self.0);
        found.map(|(_, to)| Capability((*to).into()))
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of granted capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(BTreeSet<Capability>);

impl Capabilities {
    /// Whether `needed` is granted, directly or by implication.
    pub fn allow(&self, needed: &Capability) -> bool {
        self.0.contains(needed) || self.0.iter().any(|have| have.implied().as_ref() == Some(needed))
    }

    /// The highest risk in the set; `None` if the set is empty.
    pub fn risk(&self) -> Option<Risk> {
        self.0.iter().map(Capability::risk).max()
    }

    /// The capabilities in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &Capability> {
        self.0.iter()
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(iter: I) -> Self {
        Capabilities(iter.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(text: &str) -> Capability {
        Capability::parse(text).expect("well-formed")
    }

    #[test]
    fn only_the_form_is_checked_when_parsing() {
        for bad in [
            "",
            "dom",
            "dom:",
            ":read",
            "dom:*",
            "Dom:read",
            "dom:read:",
            "a:b:c:d",
            "dom:read:x1",
            "dom:re-ad",
            "geolocation",
        ] {
            assert_eq!(Capability::parse(bad), Err(CapabilityError), "{bad}");
        }
        for (name, ..) in KNOWN {
            assert!(cap(name).is_known());
        }
        assert!(!cap("dom:interact").is_known());
    }

    #[test]
    fn risks_and_implications_are_those_of_the_table() {
        let cases = [
            ("dom:read", "low"),
            ("dom:observe", "low"),
            ("dom:write", "medium"),
            ("storage:session:read", "low"),
            ("storage:indexed:read", "medium"),
            ("clipboard:write", "medium"),
            ("clipboard:read", "high"),
            ("network:fetch:cross-origin", "high"),
            ("network:websocket:cross-origin", "high"),
            ("network:fetch:same-origin", "medium"),
            ("storage:cookie:write", "critical"),
            ("media:screen", "critical"),
            ("process:spawn", "critical"),
            ("mcp:connect", "high"),
            ("page:navigate", "medium"),
            ("page:full", "critical"),
            ("code:execute", "high"),
        ];
        for (text, risk) in cases {
            assert_eq!(cap(text).risk().name(), risk, "{text}");
        }
        let granted: Capabilities = ["dom:write", "clipboard:write", "network:fetch:cross-origin"]
            .into_iter()
            .map(cap)
            .collect();
        for (needed, allowed) in [
            ("dom:read", true),
            ("dom:write", true),
            ("dom:observe", false),
            ("clipboard:read", false),
            ("network:fetch:same-origin", true),
            ("network:websocket:same-origin", false),
        ] {
            assert_eq!(granted.allow(&cap(needed)), allowed, "{needed}");
        }
        assert_eq!(granted.risk(), Some(Risk::High));
    }
}
