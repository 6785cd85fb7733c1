//! `[policy]`, `[[rule]]`, `[[grant]]` and `[[agent]]` of the configuration: who may do what.
//!
//! Only data: `catalog` decides about calls by it. A mistake in one of these tables stops the
//! commands that make calls (`SourcePlan::bad_limit`): a rule that is left out would allow more
//! than its author wanted.
//!
//! ```text
//! [[rule]]    tool, agent, arguments ─▶ ask | deny
//! [[grant]]   agent, toolset         ─▶ capabilities, origins
//! [[agent]]   name, token            ─▶ what it sees, how much it may call
//! ```

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolwright_formats::codes::{INVALID_ENUM_VALUE, MISSING_REQUIRED_FIELD};
use toolwright_model::{Capability, Namespace};
use toolwright_source::DocumentPath;
use toolwright_source::words::nearest_word;

use super::key_checks::{check_members, key_number, members_in_order};
use super::keys::{AGENT_KEYS, ConfigKey, GRANT_KEYS, POLICY_KEYS, RULE_KEYS};
use super::{ConfigReader, words};
use crate::codes::DUPLICATE_SOURCE;
use crate::ignore_list::fits as fits_glob;
use crate::text_forms::is_origin;

/// What an annotation of a tool says that the configuration can put under a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotatedNeed {
    /// `destructiveHint` is true.
    Destructive,
    /// `openWorldHint` is true.
    OpenWorld,
    /// `readOnlyHint` is missing or false.
    NotReadOnly,
}

/// The words of `need_grant`.
pub(super) const ANNOTATED_NEEDS: &[(&str, AnnotatedNeed)] = &[
    ("destructive", AnnotatedNeed::Destructive),
    ("open_world", AnnotatedNeed::OpenWorld),
    ("not_read_only", AnnotatedNeed::NotReadOnly),
];

/// What a rule does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleAction {
    /// A person is asked.
    Ask,
    /// The call is refused.
    Deny,
}

/// The words of `action`.
pub(super) const RULE_ACTIONS: &[(&str, RuleAction)] =
    &[("ask", RuleAction::Ask), ("deny", RuleAction::Deny)];

/// One `[[rule]]`.
///
/// A call fits if the tool, the agent and the arguments do.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRule {
    /// A glob for the ids of tools.
    pub tool: String,
    /// A glob for agents; `None`: all of them.
    pub agent: Option<String>,
    /// What happens to a call that fits.
    pub action: RuleAction,
    /// A JSON Schema: only calls whose arguments match it fit.
    pub arguments: Option<Json>,
    /// Why, for the person or the agent that reads the refusal.
    pub reason: Option<String>,
}

/// One `[[grant]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredGrant {
    /// The name of the agent.
    pub agent: String,
    /// A glob for the name of the toolset.
    pub toolset: String,
    /// What it may do.
    pub capabilities: Vec<Capability>,
    /// The origins of the pages on which it may, or `*`. Without one, what is about pages is not
    /// granted on any.
    pub origins: Vec<String>,
}

/// One `[[agent]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// Its name in grants and records.
    pub name: String,
    /// The SHA-256 of its token.
    ///
    /// The token itself is never in the file, so a reader of the file cannot use it.
    pub token_hash: [u8; 32],
    /// Globs for the names of sources; `None`: all of them.
    pub sources: Option<Vec<String>>,
    /// Globs for the ids of tools; `None`: all of them.
    pub tools: Option<Vec<String>>,
    /// How many calls it may have at once.
    pub max_concurrent: Option<usize>,
    /// How many calls it may make in a minute.
    pub calls_per_minute: Option<usize>,
}

/// What the configuration says about who may do what.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySettings {
    /// Whether a person is asked through clients that can.
    pub elicit: bool,
    /// What tools state of themselves that needs a grant.
    pub need_grant: Vec<AnnotatedNeed>,
    /// Rules about calls, in their order.
    pub rules: Vec<PolicyRule>,
    /// What is granted.
    pub grants: Vec<ConfiguredGrant>,
    /// Agents with tokens of their own.
    pub agents: Vec<AgentConfig>,
}

impl Default for PolicySettings {
    fn default() -> PolicySettings {
        PolicySettings {
            elicit: true,
            need_grant: Vec::new(),
            rules: Vec::new(),
            grants: Vec::new(),
            agents: Vec::new(),
        }
    }
}

/// The names that rules and grants can be about.
///
/// The caller collects them from what is loaded; see `incomplete` for what cannot be known yet.
#[derive(Clone, Debug, Default)]
pub struct PolicySubjects {
    /// The names of sources.
    pub sources: BTreeSet<String>,
    /// The names of toolsets.
    pub toolsets: BTreeSet<String>,
    /// The ids of tools.
    pub tools: BTreeSet<String>,
    /// Toolsets whose tools are not all known, such as those of a server that is not started.
    pub incomplete: BTreeSet<String>,
    /// The capabilities that toolsets and tools declare.
    pub capabilities: BTreeSet<String>,
}

impl PolicySettings {
    /// Whether there is a rule, grant or agent.
    pub fn has_entries(&self) -> bool {
        !self.rules.is_empty() || !self.grants.is_empty() || !self.agents.is_empty()
    }

    /// A sentence about each entry that matches nothing, with the nearest name: probably it is
    /// misspelled, and does not do what its author wants.
    ///
    /// A rule that is misspelled allows what it should refuse. A name that cannot be known yet,
    /// because its toolset is in `incomplete`, is not reported.
    pub fn ineffective_entries(&self, subjects: &PolicySubjects) -> Vec<String> {
        let mut found = Vec::new();
        let mut look = |entry: String, glob: &str, what: &str, names: &BTreeSet<String>| {
            if !names.iter().any(|name| fits_glob(glob, name)) {
                let near = nearest_word(glob, names.iter().map(String::as_str));
                let near = near.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
                found.push(format!("{entry} does nothing: no {what} fits `{glob}`{near}"));
            }
        };
        // Of a tool that is not known yet, the toolset is.
        let is_unknown = |glob: &str| {
            let toolset = glob.split(':').next().unwrap_or(glob);
            subjects.incomplete.iter().any(|name| fits_glob(toolset, name))
        };
        for ConfiguredGrant { agent, toolset, .. } in &self.grants {
            let entry = format!("the `[[grant]]` for `{agent}`");
            look(entry, toolset, "toolset", &subjects.toolsets);
        }
        for ConfiguredGrant { agent, capabilities, .. } in &self.grants {
            // What everybody knows may be granted before a tool needs it.
            let own =
                |it: &&Capability| Capability::all_grantable().all(|known| known != it.as_str());
            for capability in capabilities.iter().filter(own) {
                let entry = format!("`{capability}` in the `[[grant]]` for `{agent}`");
                look(entry, capability.as_str(), "capability of a tool", &subjects.capabilities);
            }
        }
        let agents = self.agents.iter().map(|agent| agent.name.as_str()).chain(OWN_AGENTS);
        let agents: BTreeSet<String> = agents.map(str::to_owned).collect();
        for rule in &self.rules {
            let entry = || format!("the `[[rule]]` about `{}`", rule.tool);
            if !is_unknown(&rule.tool) {
                look(entry(), &rule.tool, "tool", &subjects.tools);
            }
            if let Some(agent) = &rule.agent {
                look(entry(), agent, "agent", &agents);
            }
        }
        for AgentConfig { name, sources, tools, .. } in &self.agents {
            let entry = |key: &str| format!("an item of `{key}` of the agent `{name}`");
            for glob in sources.iter().flatten() {
                look(entry("sources"), glob, "source", &subjects.sources);
            }
            for glob in tools.iter().flatten().filter(|glob| !is_unknown(glob)) {
                look(entry("tools"), glob, "tool", &subjects.tools);
            }
        }
        found
    }
}

/// The agents that exist without an `[[agent]]`.
///
/// `local` is the user of this machine, on a terminal or over standard streams. `http` is a client
/// over HTTP with the shared token or without any. Neither name can be given to an agent.
pub(super) const OWN_AGENTS: [&str; 2] = ["local", "http"];

/// Whether a grant can be for these pages: an origin, or `*` for all.
pub(super) fn is_grant_origin(text: &str) -> bool {
    text == "*" || is_origin(text)
}

/// The pages that a grant is for: an origin, or `*` for all.
///
/// # Errors
/// What is wrong with it, in one sentence.
///
/// A `/` at the end is accepted and removed, because people copy addresses.
pub fn parse_grant_origin(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    match is_grant_origin(text) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("`{text}` is not an origin, such as `https://example.org`")),
    }
}

/// A capability that can be granted. Any well-formed name can, because hosts define their own, but
/// not one that is a known name with a typing error.
///
/// # Errors
/// What is wrong with it, with the nearest known name.
///
/// ```text
/// dom:read      known                             accepted
/// dom:raed      nearly a known one                refused, with the known one
/// acme:deploy   well-formed, near to none         accepted
/// ```
pub fn parse_grantable(text: &str) -> Result<Capability, String> {
    let capability = Capability::parse(text);
    let near = nearest_word(text, Capability::all_grantable());
    match (capability, near) {
        (Ok(capability), near) if near.is_none_or(|near| near == text) => Ok(capability),
        (_, Some(near)) => Err(format!("there is no capability `{text}`; did you mean `{near}`?")),
        (Ok(capability), None) => Ok(capability),
        (Err(error), None) => Err(format!("`{text}` is not a capability: {error}")),
    }
}

/// Whether a text is a SHA-256 in hexadecimal digits.
pub(super) fn is_sha256(text: &str) -> bool {
    digest_of(text).is_some()
}

/// The 32 bytes of 64 hexadecimal digits, in either case.
fn digest_of(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(digest)
}

/// A value of the configuration as JSON; `None` for a date, which JSON does not have.
///
/// `None` also for integers beyond 64 bits and for `inf` and `nan`.
pub(super) fn json_of(value: &DeValue<'_>) -> Option<Json> {
    Some(match value {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Boolean(flag) => Json::Bool(*flag),
        DeValue::Integer(number) => {
            Json::Number(i64::from_str_radix(number.as_str(), number.radix()).ok()?.into())
        }
        DeValue::Float(number) => Json::Number(Number::from_f64(number.as_str().parse().ok()?)?),
        DeValue::Array(items) => {
            Json::Array(items.iter().map(|item| json_of(item.get_ref())).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => {
            let members = members_in_order(table).into_iter();
            let members = members
                .map(|(key, value)| Some((key.get_ref().to_string(), json_of(value.get_ref())?)));
            Json::Object(members.collect::<Option<Map<String, Json>>>()?)
        }
        DeValue::Datetime(_) => return None,
    })
}

/// The text of a key.
fn text(table: &DeTable<'_>, name: &str) -> Option<String> {
    table.get(name)?.get_ref().as_str().map(str::to_owned)
}

/// The list of texts of a key; `None` if it is absent.
fn texts(table: &DeTable<'_>, name: &str) -> Option<Vec<String>> {
    let value = table.get(name)?.get_ref();
    value.as_array().and_then(|_| words(value))
}

/// The value of a word of a table of words.
fn choice<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

impl ConfigReader<'_, '_> {
    /// Everything about who may do what.
    pub(super) fn policy_settings(&mut self, root: &DeTable<'_>) -> PolicySettings {
        let mut settings = PolicySettings::default();
        if let Some((table, at)) = self.single_table(root, "policy") {
            check_members(table, POLICY_KEYS, &at, self.problems);
            let elicit = table.get("elicit").and_then(|value| value.get_ref().as_bool());
            settings.elicit = elicit.unwrap_or(settings.elicit);
            let needs = texts(table, "need_grant").unwrap_or_default();
            settings.need_grant =
                needs.iter().filter_map(|word| choice(ANNOTATED_NEEDS, word)).collect();
        }
        settings.rules = self.entries(root, "rule", RULE_KEYS, &["tool", "action"], |table| {
            Some(PolicyRule {
                tool: text(table, "tool")?,
                agent: text(table, "agent"),
                action: choice(RULE_ACTIONS, &text(table, "action")?)?,
                arguments: table.get("arguments").and_then(|value| json_of(value.get_ref())),
                reason: text(table, "reason"),
            })
        });
        settings.grants =
            self.entries(root, "grant", GRANT_KEYS, &["toolset", "capabilities"], |table| {
                let names = texts(table, "capabilities")?;
                Some(ConfiguredGrant {
                    agent: text(table, "agent").unwrap_or_else(|| OWN_AGENTS[0].to_owned()),
                    toolset: text(table, "toolset")?,
                    capabilities: names
                        .iter()
                        .filter_map(|it| Capability::parse(it).ok())
                        .collect(),
                    origins: texts(table, "origins").unwrap_or_default(),
                })
            });
        settings.agents =
            self.entries(root, "agent", AGENT_KEYS, &["name", "token_sha256"], |table| {
                Some(AgentConfig {
                    name: Namespace::parse(&text(table, "name")?).ok()?.to_string(),
                    token_hash: digest_of(&text(table, "token_sha256")?)?,
                    sources: texts(table, "sources"),
                    tools: texts(table, "tools"),
                    max_concurrent: key_number(table, AGENT_KEYS, "max_concurrent"),
                    calls_per_minute: key_number(table, AGENT_KEYS, "calls_per_minute"),
                })
            });
        self.check_agents(root, &settings);
        settings
    }

    /// The entries of a list of tables. A missing key is reported; an entry with a mistake is left
    /// out.
    ///
    /// `read` gets a table whose keys were checked; it returns `None` where a value was wrong.
    fn entries<T>(
        &mut self,
        root: &DeTable<'_>,
        name: &str,
        keys: &'static [ConfigKey],
        required: &[&'static str],
        read: impl Fn(&DeTable<'_>) -> Option<T>,
    ) -> Vec<T> {
        let (items, usable) = self.list_of_tables(root, name, name);
        let mut entries = Vec::new();
        for (at, item) in items {
            let Some(table) = self.table(item, &at) else { continue };
            let intended = check_members(table, keys, &at, self.problems);
            for key in required {
                if !table.contains_key(*key) && !intended.contains(key) {
                    let message = format!("the {name} has no `{key}`");
                    self.problems.add(
                        &MISSING_REQUIRED_FIELD,
                        item.span(),
                        &at.child(key),
                        message,
                    );
                }
            }
            entries.extend(read(table).filter(|_| usable));
        }
        entries
    }

    /// Reports agents with a name that is taken, and grants for agents that do not exist.
    ///
    /// Reads the tables again instead of `settings`: an entry with a mistake is not in there, but
    /// its name is taken all the same.
    ///
    /// A grant for an agent that does not exist would never apply.
    fn check_agents(&mut self, root: &DeTable<'_>, settings: &PolicySettings) {
        let list = |name: &str| root.get(name).and_then(|value| value.get_ref().as_array());
        let name_of = |item: &Spanned<DeValue<'_>>, key: &str| {
            let table = item.get_ref().as_table()?;
            let value = table.get(key)?;
            Some((value.get_ref().as_str()?.to_owned(), value.span()))
        };
        let mut seen: Vec<String> = OWN_AGENTS.map(str::to_owned).to_vec();
        let mut tokens: Vec<String> = Vec::new();
        for (n, item) in list("agent").into_iter().flatten().enumerate() {
            let Some((name, span)) = name_of(item, "name") else { continue };
            if seen.contains(&name) {
                let at = DocumentPath::root().child("agent").child(n).child("name");
                let message = format!("the name `{name}` of an agent is taken");
                self.problems.add(&DUPLICATE_SOURCE, span, &at, message);
            }
            seen.push(name);
            let Some((token, span)) = name_of(item, "token_sha256") else { continue };
            let token = token.to_ascii_lowercase();
            if tokens.contains(&token) {
                let at = DocumentPath::root().child("agent").child(n).child("token_sha256");
                let message = "another agent has the same token".to_owned();
                self.problems.add(&DUPLICATE_SOURCE, span, &at, message);
            }
            tokens.push(token);
        }
        let known = settings.agents.iter().map(|agent| agent.name.as_str()).chain(OWN_AGENTS);
        for (n, item) in list("grant").into_iter().flatten().enumerate() {
            let Some((name, span)) = name_of(item, "agent") else { continue };
            if !known.clone().any(|own| own == name) {
                let at = DocumentPath::root().child("grant").child(n).child("agent");
                let message = format!("there is no agent `{name}`");
                let diagnostic = self.problems.add(&INVALID_ENUM_VALUE, span, &at, message);
                diagnostic.help.push(match nearest_word(&name, known.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("`toolwright agent add {name}` makes one"),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_capabilities_are_refused_and_those_of_hosts_are_not() {
        for (text, expected) in [
            ("dom:read", Ok("dom:read")),
            ("tool:destructive", Ok("tool:destructive")),
            ("printer:print", Ok("printer:print")),
            ("dom:raed", Err("there is no capability `dom:raed`; did you mean `dom:read`?")),
            (
                "dom",
                Err(
                    "`dom` is not a capability: a capability is two or three lower-case words joined by `:`, such as `dom:read`",
                ),
            ),
        ] {
            let found = parse_grantable(text);
            let found = found.as_ref().map(Capability::as_str).map_err(String::as_str);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn only_64_hexadecimal_digits_are_a_hash() {
        assert!(is_sha256(&"0aF9".repeat(16)));
        for text in ["", "00", &"+0".repeat(32), &"0g".repeat(32), &"ä".repeat(32)] {
            assert!(!is_sha256(text), "{text}");
        }
    }
}
