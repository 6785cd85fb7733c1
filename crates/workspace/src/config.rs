//! The configuration file `toolwright.toml`: where tools come from, the limits of calls, how they
//! are served, and which diagnostics are reported.
//!
//! ```text
//! text ─ toml ─▶ table with spans ─ key_checks.rs: each key by itself ─┐
//!                       │         ─ here: keys that belong together ───┴▶ Config + diagnostics
//! keys.rs: all keys ────┴─ schema.rs ─▶ JSON Schema, for editors
//! ```
//!
//! Reading goes on after a mistake: a bad source is reported and left out, a bad limit is reported
//! and keeps its default. Only a text that is not TOML yields nothing, because what could be saved
//! from it would be guesswork. No `serde` derive is used: it stops at the first mistake and has no
//! positions.
//!
//! Not here: whether the paths exist and what is in them (`plan`, `load`).

mod audit_settings;
mod browser_config;
mod key_checks;
mod keys;
mod limits;
mod policy_settings;
mod schema;
mod serve_settings;
mod server_settings;
mod trust_settings;
mod written;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolwright_formats::codes::{INVALID_TYPE, MISSING_REQUIRED_FIELD};
use toolwright_model::{CallLimits, Namespace, ServerSettings};
use toolwright_schema::{TargetSet, VendorTarget};
use toolwright_source::codes::{DUPLICATE_KEY, INVALID_SYNTAX};
use toolwright_source::words::{alternatives, split_words};
use toolwright_source::{
    Diagnostic, DocumentPath, Label, MAX_PROBLEMS, Severity, Source, Span, render,
};

pub use self::audit_settings::{AuditSettings, RecordedArguments};
pub use self::browser_config::BrowserConfig;
use self::key_checks::{
    ConfigProblems, check_members, key_number, members_in_order, report_unknown_key, span,
    type_with_article,
};
pub use self::keys::BUILTIN_TOOLSETS;
use self::keys::{CHECK_KEYS, IGNORE_KEYS, KIND_KEYS, SOURCE_KEYS, table_names};
pub use self::policy_settings::{
    AgentConfig, AnnotatedNeed, ConfiguredGrant, PolicyRule, PolicySettings, PolicySubjects,
    RuleAction, parse_grant_origin, parse_grantable,
};
pub use self::schema::schema as config_schema;
pub use self::serve_settings::ServeSettings;
pub use self::trust_settings::{PinMode, TrustSettings};
use crate::codes::{DUPLICATE_SOURCE, INVALID_SOURCE};
use crate::cost::TokenLimits;
use crate::server_rules::WrittenServer;
use crate::{IgnoreEntry, VariableScope, Variables, expand};

/// The name of the file in every folder.
const FILE_NAME: &str = "toolwright.toml";

/// A configuration, with all mistakes left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Sources in the order of the file.
    pub sources: Vec<SourceConfig>,
    /// Limits of calls. Definitions and callers can set their own within these.
    pub limits: CallLimits,
    /// How `serve` treats its clients.
    pub serve: ServeSettings,
    /// What is kept about calls.
    pub audit: AuditSettings,
    /// The browser on whose pages tools work.
    pub browser: BrowserConfig,
    /// What happens when a definition differs from the accepted one.
    pub trust: TrustSettings,
    /// Who may do what.
    pub policy: PolicySettings,
    /// What `check` looks at beside the rules.
    pub check: CheckSettings,
    /// Severities that replace those of the codes themselves.
    pub levels: Levels,
    /// Findings that are not reported.
    pub ignores: Vec<IgnoreEntry>,
    /// The settings of all sources as they are written, also of those with mistakes.
    pub(crate) written: Vec<WrittenServer<ConfigPlace>>,
}

/// A place in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigPlace {
    /// The bytes of the value.
    pub(crate) span: Span,
    /// Such as `/source/0/env/TOKEN`; diagnostics name it.
    pub(crate) path: DocumentPath,
    /// Whether the text at this place is the whole value, so that another text can replace it. A
    /// word of a command line is not.
    pub(crate) is_whole_value: bool,
}

/// The settings of `[check]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckSettings {
    /// The APIs that the tools are going to be sent to.
    pub targets: TargetSet,
    /// How many tokens tools may cost.
    pub tokens: TokenLimits,
}

/// Severities by the name of the code; `None` switches the code off.
pub type Levels = BTreeMap<&'static str, Option<Severity>>;

/// The words for severities in `[levels]`. In the order of their weight, which is also the order in
/// which messages list them.
const LEVEL_WORDS: &[(&str, Option<Severity>)] = &[
    ("off", None),
    ("note", Some(Severity::Info)),
    (OLD_NOTE, Some(Severity::Info)),
    ("warning", Some(Severity::Warning)),
    ("error", Some(Severity::Error)),
];

/// An older word for `note`, which is understood and not advertised.
const OLD_NOTE: &str = "info";

/// A source of tools: one `[[source]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// The namespace of its tools, unique among all sources.
    pub name: Namespace,
    /// Where the tools are.
    pub kind: SourceKind,
    /// Variables for the processes it starts, with references expanded. The values may be secrets:
    /// they are not printed.
    pub environment: Vec<(String, String)>,
    /// Whether tolerable findings are warnings and not errors.
    pub compat: bool,
    /// The folder of the JavaScript bodies of its tools, if they are not beside their manifests.
    pub implementations: Option<PathBuf>,
    /// How its servers are run. The name in it is empty: one source may name several servers.
    pub server: ServerSettings,
    /// The `[[source]]` in the file.
    pub span: Span,
}

/// Where the tools of a source are. Relative paths have been joined to the folder of the
/// configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Definitions in a file or folder.
    Definitions {
        /// The file or folder.
        path: PathBuf,
        /// The format of every file; detected if absent.
        format: Option<String>,
    },
    /// Programs that describe themselves when run with `--schema`.
    Executables {
        /// The folder they are in.
        folder: PathBuf,
    },
    /// The servers listed in the file of another MCP client.
    ServersFile {
        /// The path of that file.
        path: PathBuf,
    },
    /// An MCP server that is started, on standard streams.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Its working directory; by default the folder of the configuration.
        directory: Option<PathBuf>,
    },
    /// An MCP server that is reached over HTTP.
    Url {
        /// Where it listens.
        url: String,
        /// Headers of every request, with references expanded. The values may be secrets.
        headers: Vec<(String, String)>,
    },
    /// Tools that the program brings along.
    Builtin {
        /// One of [`BUILTIN_TOOLSETS`].
        toolset: String,
    },
}

impl Config {
    /// Parses the configuration in `source`. Relative paths start at `folder`, and references are
    /// expanded with `variables`. Returns all diagnostics in the order of the text.
    ///
    /// Never fails: a text that is not TOML gives the default configuration and an error. Callers
    /// that make calls stop at an error in some tables (`SourcePlan::bad_limit`), others go on.
    pub fn parse(
        source: &Arc<Source>,
        folder: &Path,
        variables: &Variables<'_>,
    ) -> (Config, Vec<Diagnostic>) {
        // The recoverable parser goes on after an error, so that one run reports all syntax errors.
        let (root, errors) = DeTable::parse_recoverable(source.text());
        let mut problems = ConfigProblems::new(source);
        let mut is_toml = true;
        // The parser continues after a mistake, and a file that is not TOML at all would have one
        // error for each line.
        for error in errors.iter().take(MAX_PROBLEMS) {
            is_toml &= report_syntax_error(error, &mut problems);
        }
        // After a syntax error the table has holes: a source without its `env` would be started
        // differently from what the author wrote.
        let config = if is_toml {
            let scope = VariableScope { variables, workspace: folder };
            let names_seen = HashMap::new();
            ConfigReader { scope, problems: &mut problems, names_seen, written: Vec::new() }
                .read(root.get_ref())
        } else {
            Config::default()
        };
        render::sort(&mut problems.list);
        (config, problems.list)
    }

    /// Whether a path names a configuration. No definition is written in TOML, so that the ending
    /// alone decides.
    pub fn is_named(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) && path.is_file()
    }

    /// The configuration that applies in the folder `from`: the file in it or in the nearest folder
    /// above. Programs that are started in a subfolder of a project use the configuration of the
    /// project, as with Cargo and Git.
    pub fn find(from: &Path) -> Option<PathBuf> {
        let from = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
        from.ancestors().map(|folder| folder.join(FILE_NAME)).find(|file| file.is_file())
    }
}

/// Reports an error of the TOML parser. Returns whether the table is usable all the same, which it
/// is after a duplicate key.
fn report_syntax_error(error: &toml::de::Error, problems: &mut ConfigProblems<'_>) -> bool {
    let place = error.span().unwrap_or_default();
    // The parser has no error kinds, only messages; a test fails if this one changes.
    let duplicate = error.message() == "duplicate key";
    if duplicate {
        let message = format!("`{}` is defined twice", problems.text(&place));
        problems.add(&DUPLICATE_KEY, place, &DocumentPath::root(), message);
    } else {
        problems.add(&INVALID_SYNTAX, place, &DocumentPath::root(), error.message());
    }
    duplicate
}

/// Reads the tables. Every method reports to `problems` and returns what is usable.
///
/// Methods for the smaller tables are in the files of those tables (`limits`, `policy_settings`).
struct ConfigReader<'r, 's> {
    /// The variables and the folder for references.
    scope: VariableScope<'r>,
    problems: &'r mut ConfigProblems<'s>,
    /// The names of sources so far, with their positions for the label "first used here".
    names_seen: HashMap<String, Span>,
    /// The settings of the sources so far, as they are written.
    written: Vec<WrittenServer<ConfigPlace>>,
}

impl ConfigReader<'_, '_> {
    /// Reads the whole file.
    ///
    /// The order of the tables here is that of reading only: diagnostics are sorted afterwards.
    fn read(mut self, root: &DeTable<'_>) -> Config {
        // A finding for each of its keys would hide what is wrong.
        let codex = root.get_key_value("mcp_servers");
        if let Some((key, _)) = codex.filter(|_| !root.contains_key("source")) {
            let at = DocumentPath::root().child("mcp_servers");
            let message = "this is a configuration of Codex, not of Toolwright";
            let help = "`toolwright init` writes the servers of Codex into a `toolwright.toml`";
            self.problems.add(&INVALID_SOURCE, key.span(), &at, message).help.push(help.to_owned());
            return Config::default();
        }
        for (key, _) in members_in_order(root) {
            if !table_names().any(|name| name == key.get_ref()) {
                report_unknown_key(key, table_names(), &DocumentPath::root(), self.problems);
            }
        }
        let sources = self.sources(root);
        let limits = self.limits(root);
        let serve = self.serve_settings(root);
        let audit = self.audit_settings(root);
        let browser = self.browser_config(root);
        let trust = self.trust_settings(root);
        let policy = self.policy_settings(root);
        let check = self.check(root);
        let levels = self.levels(root);
        let ignores = self.ignores(root);
        let written = self.written;
        Config {
            sources,
            limits,
            serve,
            audit,
            browser,
            trust,
            policy,
            check,
            levels,
            ignores,
            written,
        }
    }

    /// The sources of the list `source`.
    fn sources(&mut self, root: &DeTable<'_>) -> Vec<SourceConfig> {
        let (items, usable) = self.list_of_tables(root, "source", "source");
        let read = |(at, item): (DocumentPath, &Spanned<DeValue<'_>>)| self.source(item, &at);
        let sources: Vec<SourceConfig> = items.into_iter().filter_map(read).collect();
        if usable { sources } else { Vec::new() }
    }

    /// The entries of the list `ignore`. One with a mistake is left out: it silences nothing.
    fn ignores(&mut self, root: &DeTable<'_>) -> Vec<IgnoreEntry> {
        let (items, usable) = self.list_of_tables(root, "ignore", "entry");
        let read = |(at, item): (DocumentPath, &Spanned<DeValue<'_>>)| self.ignore(item, &at);
        let entries: Vec<IgnoreEntry> = items.into_iter().filter_map(read).collect();
        if usable { entries } else { Vec::new() }
    }

    /// One `[[ignore]]`, or `None` if anything is wrong with it.
    fn ignore(&mut self, item: &Spanned<DeValue<'_>>, at: &DocumentPath) -> Option<IgnoreEntry> {
        let before = self.problems.list.len();
        let table = self.table(item, at)?;
        let intended = check_members(table, IGNORE_KEYS, at, self.problems);
        for (name, help) in [
            ("code", "`toolwright explain` lists all codes"),
            ("reason", "`reason` tells the next reader why this is not a mistake"),
        ] {
            if !table.contains_key(name) && !intended.contains(&name) {
                let message = format!("the entry has no `{name}`, and silences nothing");
                self.problems
                    .add(&MISSING_REQUIRED_FIELD, item.span(), &at.child(name), message)
                    .help
                    .push(help.to_owned());
            }
        }
        let text = |name: &str| table.get(name)?.get_ref().as_str().map(str::to_owned);
        let code = crate::codes::find(&text("code")?).ok()?.name;
        (self.problems.list.len() == before).then_some(IgnoreEntry {
            source: text("source"),
            tool: text("tool"),
            code,
            span: span(&item.span()),
        })
    }

    /// The items of the list `name`, and whether they can be used. `[name]` with one bracket is
    /// reported, and its own mistakes are, too, so that the author does not find them one after the
    /// other; but it could be meant as one of several.
    ///
    /// ```text
    /// [[source]]     items, usable
    /// [source]       one item, not usable: reported, and its keys are checked as well
    /// source = 1     nothing, not usable
    /// ```
    ///
    /// `noun` is what the help calls an item: "above each source".
    fn list_of_tables<'t, 'i>(
        &mut self,
        root: &'t DeTable<'i>,
        name: &str,
        noun: &str,
    ) -> (Vec<(DocumentPath, &'t Spanned<DeValue<'i>>)>, bool) {
        let Some(list) = root.get(name) else { return (Vec::new(), true) };
        let at = DocumentPath::root().child(name);
        if let DeValue::Array(items) = list.get_ref() {
            return (items.iter().enumerate().map(|(n, item)| (at.child(n), item)).collect(), true);
        }
        let article = type_with_article(list.get_ref());
        let message = format!("`{name}` is {article}, expected a list of tables");
        let diagnostic = self.problems.add(&INVALID_TYPE, list.span(), &at, message);
        if !list.get_ref().is_table() {
            return (Vec::new(), false);
        }
        let help = format!("write `[[{name}]]`, with two brackets, above each {noun}");
        diagnostic.help.push(help);
        (vec![(at, list)], false)
    }

    /// The table `[name]` with its path; `None` if it is absent or not a table, which is reported.
    fn single_table<'t, 'i>(
        &mut self,
        root: &'t DeTable<'i>,
        name: &str,
    ) -> Option<(&'t DeTable<'i>, DocumentPath)> {
        let value = root.get(name)?;
        let at = DocumentPath::root().child(name);
        let table = value.get_ref().as_table();
        if table.is_none() {
            let found = type_with_article(value.get_ref());
            let message = format!("`{name}` is {found}, expected a table");
            self.problems.add(&INVALID_TYPE, value.span(), &at, message);
        }
        Some((table?, at))
    }

    /// The table at `at`; anything else is reported.
    fn table<'t, 'i>(
        &mut self,
        item: &'t Spanned<DeValue<'i>>,
        at: &DocumentPath,
    ) -> Option<&'t DeTable<'i>> {
        let table = item.get_ref().as_table();
        if table.is_none() {
            let message =
                format!("this is {}, expected a table", type_with_article(item.get_ref()));
            self.problems.add(&INVALID_TYPE, item.span(), at, message);
        }
        table
    }

    /// One source, or `None` if anything is wrong with it. A source with a mistake in a secondary
    /// key is left out as a whole: without its `env` or `headers`, a server would fail in ways that
    /// are harder to understand.
    fn source(&mut self, item: &Spanned<DeValue<'_>>, at: &DocumentPath) -> Option<SourceConfig> {
        // The number of problems now and at the end tells whether this source has one.
        let before = self.problems.list.len();
        let table = self.table(item, at)?;
        self.written.push(written::source(table, item, at));
        let intended = check_members(table, SOURCE_KEYS, at, self.problems);
        let name = self.name(table, item, at, &intended);
        let kind = self.kind_key(table, item, at, &intended);
        // Expanded before the kind is known, so that every unset variable is reported in one run.
        let environment = self.expanded_table(table, "env", at);
        let headers = self.expanded_table(table, "headers", at);
        let server = self.server_settings(table, at);
        // Everything that does not depend on the kind has been reported by now, so it is fine to
        // return early.
        let kind = self.source_kind(table, kind?, headers, at)?;
        // Complete only if nothing about it was reported, references in `env` included.
        (self.problems.list.len() == before).then_some(SourceConfig {
            name: name?,
            kind,
            environment,
            compat: table
                .get("compat")
                .and_then(|value| value.get_ref().as_bool())
                .unwrap_or(false),
            implementations: table
                .get("implementations")
                .and_then(|value| value.get_ref().as_str())
                .map(|folder| self.scope.workspace.join(folder)),
            server,
            span: span(&item.span()),
        })
    }

    /// The name. A missing one is not reported if a misspelled key was meant to be it (`intended`).
    ///
    /// The first source of a name keeps it, and later ones are left out.
    fn name(
        &mut self,
        table: &DeTable<'_>,
        item: &Spanned<DeValue<'_>>,
        at: &DocumentPath,
        intended: &[&str],
    ) -> Option<Namespace> {
        let Some(value) = table.get("name") else {
            if !intended.contains(&"name") {
                let message = "the source has no `name`";
                self.problems
                    .add(&MISSING_REQUIRED_FIELD, item.span(), &at.child("name"), message)
                    .help
                    .push("`name` is what the ids of its tools start with".to_owned());
            }
            return None;
        };
        // A name that does not parse was reported by `check_name`.
        let name = Namespace::parse(value.get_ref().as_str()?).ok()?;
        let place = span(&value.span());
        if let Some(first) = self.names_seen.get(name.as_str()) {
            let message = format!("two sources have the name `{name}`");
            let label = Label { span: *first, text: "first used here".to_owned() };
            self.problems
                .add(&DUPLICATE_SOURCE, value.span(), &at.child("name"), message)
                .labels
                .push(label);
            return None;
        }
        self.names_seen.insert(name.as_str().to_owned(), place);
        Some(name)
    }

    /// The one key that tells where the tools are. Reports several of them, and keys that do not
    /// belong to that kind of source.
    ///
    /// `None` if there is no such key or several of them. A key that does not belong to the kind is
    /// reported, and the kind is returned all the same: further mistakes are then found, too.
    fn kind_key(
        &mut self,
        table: &DeTable<'_>,
        item: &Spanned<DeValue<'_>>,
        at: &DocumentPath,
        intended: &[&str],
    ) -> Option<&'static str> {
        // In the order of the text: the first key counts, and the message is about the second.
        let mut kind_keys = members_in_order(table).into_iter().filter_map(|(key, _)| {
            let kind = KIND_KEYS.iter().copied().find(|kind| *kind == key.get_ref().as_ref())?;
            Some((kind, key.span()))
        });
        let Some((kind, first)) = kind_keys.next() else {
            if !intended.iter().any(|name| KIND_KEYS.contains(name)) {
                let message = "the source does not say where its tools are";
                self.problems
                    .add(&MISSING_REQUIRED_FIELD, item.span(), at, message)
                    .help
                    .push(format!("it needs one of {}", alternatives(KIND_KEYS)));
            }
            return None;
        };
        if let Some((other, place)) = kind_keys.next() {
            let message = format!("a source has either `{kind}` or `{other}`, not both");
            let diagnostic = self.problems.add(&INVALID_SOURCE, place, &at.child(other), message);
            diagnostic.labels.push(Label { span: span(&first), text: format!("`{kind}` is here") });
            diagnostic.help.push("make two sources of it".to_owned());
            return None;
        }
        for (key, _) in members_in_order(table) {
            let known = SOURCE_KEYS.iter().find(|known| known.name == key.get_ref().as_ref());
            // Unknown keys were reported by `check_members`.
            let Some(known) = known.filter(|known| !known.goes_with.contains(&kind)) else {
                continue;
            };
            let message = format!("`{}` does not go with `{kind}`", known.name);
            self.problems
                .add(&INVALID_SOURCE, key.span(), &at.child(known.name), message)
                .help
                .push(format!("it belongs to a source that has {}", alternatives(known.goes_with)));
        }
        Some(kind)
    }

    /// Builds the kind from values that `check_members` has checked; `None` if one of them was
    /// wrong.
    ///
    /// The last arm is `url`: `kind` is one of `KIND_KEYS`.
    fn source_kind(
        &mut self,
        table: &DeTable<'_>,
        kind: &str,
        headers: Vec<(String, String)>,
        at: &DocumentPath,
    ) -> Option<SourceKind> {
        let folder = self.scope.workspace;
        let text = |name: &str| table.get(name)?.get_ref().as_str();
        // `join` keeps an absolute path as it is.
        let path = |name: &str| text(name).map(|path| folder.join(path));
        Some(match kind {
            // The names are those of `KIND_KEYS`. References are expanded in commands, addresses,
            // `env` and `headers`, but not in paths.
            "path" => SourceKind::Definitions {
                path: path(kind)?,
                format: text("format").map(str::to_owned),
            },
            "executables" => SourceKind::Executables { folder: path(kind)? },
            "mcp" => SourceKind::ServersFile { path: path(kind)? },
            "command" => {
                let value = table.get(kind)?;
                let words = words(value.get_ref())?;
                let directory = path("directory");
                let words =
                    words.iter().map(|word| self.expand_text(word, value.span(), &at.child(kind)));
                SourceKind::Command { words: words.collect::<Option<_>>()?, directory }
            }
            "builtin" => {
                let toolset = text(kind).filter(|name| BUILTIN_TOOLSETS.contains(name))?;
                SourceKind::Builtin { toolset: toolset.to_owned() }
            }
            _ => {
                let url =
                    self.expand_text(text(kind)?, table.get(kind)?.span(), &at.child(kind))?;
                SourceKind::Url { url, headers }
            }
        })
    }

    /// A text with its references expanded, or `None` after reporting why that is impossible.
    fn expand_text(
        &mut self,
        text: &str,
        place: Range<usize>,
        at: &DocumentPath,
    ) -> Option<String> {
        match expand(text, &self.scope) {
            Ok(text) => Some(text),
            Err(error) => {
                self.problems
                    .add(error.code(), place, at, error.to_string())
                    .help
                    .push(error.help());
                None
            }
        }
    }

    /// The strings of the table at `name`, with their references expanded.
    ///
    /// A value that cannot be expanded is left out of the list. That is never noticed, because the
    /// finding is an error and the source is left out as a whole.
    fn expanded_table(
        &mut self,
        table: &DeTable<'_>,
        name: &str,
        at: &DocumentPath,
    ) -> Vec<(String, String)> {
        // Absent, or of another type, which was reported.
        let Some(DeValue::Table(values)) = table.get(name).map(Spanned::get_ref) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for (key, value) in members_in_order(values) {
            // `check_texts` has reported values that are not strings.
            let Some(text) = value.get_ref().as_str() else { continue };
            let text = self.expand_text(text, value.span(), &at.child(name).child(key.get_ref()));
            out.extend(text.map(|text| (key.get_ref().to_string(), text)));
        }
        out
    }

    /// The settings of `check`.
    fn check(&mut self, root: &DeTable<'_>) -> CheckSettings {
        let Some((table, at)) = self.single_table(root, "check") else {
            return CheckSettings::default();
        };
        check_members(table, CHECK_KEYS, &at, self.problems);
        // Unknown ids have been reported.
        let targets = table.get("targets").and_then(|value| words(value.get_ref()));
        let targets = targets.iter().flatten().filter_map(|id| VendorTarget::by_id(id)).collect();
        let number = |name: &str| key_number(table, CHECK_KEYS, name);
        let tokens =
            TokenLimits { tool: number("max_tool_tokens"), total: number("max_total_tokens") };
        CheckSettings { targets, tokens }
    }

    /// The severities of codes. Unknown codes and severities are reported.
    ///
    /// A code that is given twice is a duplicate key, which the parser reports.
    fn levels(&mut self, root: &DeTable<'_>) -> Levels {
        let mut levels = Levels::new();
        let Some((table, at)) = self.single_table(root, "levels") else { return levels };
        for (key, value) in members_in_order(table) {
            // Both are read before they are combined, so that a line with two mistakes gets two
            // diagnostics.
            let code = key_checks::code_of_key(key, &at, self.problems);
            let level = key_checks::level_of_value(key, value, &at, self.problems);
            levels.extend(code.zip(level).map(|(code, level)| (code.name, level)));
        }
        levels
    }
}

/// The words of a command: a list of them, or a line that is split as a shell would.
///
/// `None` for other types, and for a line with a quote that is not closed.
fn words(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(items) => {
            items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        }
        value => split_words(value.as_str()?),
    }
}
