//! The plan of what to load: a list of sources, made from the configuration or from the command
//! line, with all references expanded. Nothing is started or connected here.
//!
//! ```text
//! toolwright.toml ─ Config ──┐
//! servers files ─────────────┼─▶ SourcePlan { specs, limits, diagnostics, failures }
//! command-line arguments ────┘        └─▶ load (files), catalog (programs and servers)
//! ```
//!
//! Making a plan never fails: mistakes become diagnostics, and unreadable files become failures,
//! next to the sources that are fine. Whether that is good enough is the caller's decision: `serve`
//! refuses a bad limit at the start, and a reload keeps the old plan if the new one is broken.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_model::{
    CallLimits, Connection, FormatId, Namespace, Server, ServerSettings, Variable, redacted_url,
};
use toolwright_source::codes::INVALID_SYNTAX;
use toolwright_source::{
    Anchor, Diagnostic, Document, DocumentPath, Finding, Node, Severity, Source, Syntax, locate,
    render,
};

use crate::codes::{COMMAND_NOT_FOUND, SUSPICIOUS_COMMAND, is_about_server, is_advice};
use crate::config::{
    AuditSettings, BrowserConfig, CheckSettings, Config, ConfigPlace, Levels, PolicySettings,
    ServeSettings, SourceConfig, SourceKind, TrustSettings,
};
use crate::files::{self, LoadError};
use crate::ignore_list::IgnoreList;
use crate::load::ReadOptions;
use crate::lock_file::LOCK_NAME;
use crate::server_rules::{MissingPart, SecretVariables, ServerFinding, WrittenServer};
use crate::server_rules::{check_server, masked_connection, missing_parts, shown_connection};
use crate::servers_file::{self, is_servers_file, read_servers, server_around};
use crate::text_forms::is_address;
use crate::variables::{VariableScope, Variables, workspace_of};

/// A source named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceArgument {
    /// A file, a folder, or `-` for standard input.
    Path(PathBuf),
    /// A server that is running.
    Url(String),
    /// A server to start: the words after `--`.
    Command(Vec<String>),
}

impl SourceArgument {
    /// The source that a word on the command line names. Only the schemes of MCP's transports make
    /// it a URL: a file may have `:` in its name.
    pub fn parse(word: &str) -> SourceArgument {
        // `get` and not slicing: the word may have a multi-byte character at that position.
        let is_url = ["http://", "https://", "ws://", "wss://"].iter().any(|scheme| {
            word.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        if is_url {
            SourceArgument::Url(word.to_owned())
        } else {
            SourceArgument::Path(word.into())
        }
    }
}

/// One source, ready to be loaded.
#[derive(Clone, Debug)]
pub struct SourceSpec {
    /// Its name in messages. It is not a namespace: for a source of the command line it is a path
    /// or a URL.
    pub name: String,
    /// The file, folder, program or server that is loaded.
    pub target: SourceTarget,
    /// Variables that its programs get in addition to their usual environment.
    pub environment: Vec<(String, String)>,
    /// How its definitions are read.
    pub options: ReadOptions,
    /// The folder of the JavaScript bodies of its tools, if they are not beside their manifests.
    pub implementations: Option<PathBuf>,
    /// How the servers that its definitions name are run. A server that is a source of its own has
    /// the same settings itself.
    pub server: ServerSettings,
    /// The entry of the configuration or servers file that names it. Findings about what a server
    /// answers are anchored there.
    pub anchor: Option<Anchor>,
}

/// Whether they load the same thing in the same way. Where a file names the source does not count:
/// a server whose entry moves to another line keeps running.
impl PartialEq for SourceSpec {
    fn eq(&self, other: &SourceSpec) -> bool {
        // By destructuring, so that a new field cannot be forgotten here.
        let SourceSpec { name, target, environment, options, implementations, server, anchor: _ } =
            self;
        (name, target) == (&other.name, &other.target)
            && (environment, options) == (&other.environment, &other.options)
            && (implementations, server) == (&other.implementations, &other.server)
    }
}

/// What a source consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceTarget {
    /// A file or folder of definitions.
    Definitions(PathBuf),
    /// A folder of `*-tool` programs.
    Executables(PathBuf),
    /// One such program.
    Program(PathBuf),
    /// An MCP server, with the namespace that its tools get, if any.
    Server(Arc<Server>, Option<Namespace>),
    /// A toolset that the program brings along, with the namespace that its tools get.
    Builtin(String, Namespace),
}

impl SourceTarget {
    /// Whether a server or a built-in toolset is asked for the tools: nobody here can edit what it
    /// lists.
    pub fn is_listed(&self) -> bool {
        matches!(self, SourceTarget::Server(..) | SourceTarget::Builtin(..))
    }

    /// The namespace that the configuration gives to the tools that are listed.
    pub fn namespace(&self) -> Option<&Namespace> {
        match self {
            SourceTarget::Server(_, namespace) => namespace.as_ref(),
            SourceTarget::Builtin(_, namespace) => Some(namespace),
            _ => None,
        }
    }
}

/// A server that its author wrote down and that is not started: it is switched off, or its entry
/// has a mistake.
#[derive(Clone, Debug)]
pub struct UnstartedServer {
    /// Its name in the file.
    pub name: String,
    /// Whether the file switches it off.
    pub disabled: bool,
    /// The file, and the entry in it.
    file: Arc<Source>,
    at: DocumentPath,
}

/// Sources to load, and everything that was wrong on the way to them.
#[derive(Debug, Default)]
pub struct SourcePlan {
    /// Sources in the order of the configuration or the command line.
    pub specs: Vec<SourceSpec>,
    /// Limits of calls, from the configuration.
    pub limits: CallLimits,
    /// How `serve` treats its clients, from the configuration.
    pub serve: ServeSettings,
    /// What is kept about calls, from the configuration.
    pub audit: AuditSettings,
    /// The browser on whose pages tools work, from the configuration.
    pub browser: BrowserConfig,
    /// What happens when a definition differs from the accepted one, from the configuration.
    pub trust: TrustSettings,
    /// Where the lock of its sources is, if there is one: beside the configuration or servers file.
    pub lock: Option<PathBuf>,
    /// Who may do what, from the configuration.
    pub policy: PolicySettings,
    /// What `check` looks at beside the rules, from the configuration.
    pub check: CheckSettings,
    /// Severities that the configuration sets for codes.
    pub levels: Levels,
    /// Findings that the configuration silences.
    pub ignores: Arc<IgnoreList>,
    /// Mistakes in the configuration and in servers files.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that could not be read, and sources that could not be added.
    pub failures: Vec<LoadError>,
    /// The servers that are not started, because they are switched off or have a mistake.
    pub unstarted: Vec<UnstartedServer>,
    /// The files this plan was made from, for watching them.
    pub files: Vec<PathBuf>,
    /// Whether the configuration itself could not be read. The first failure tells why.
    config_unreadable: bool,
}

impl SourcePlan {
    /// Whether the plan lacks something that its author wrote: a file could not be read or parsed,
    /// or a limit is invalid.
    pub fn is_broken(&self) -> bool {
        // Other errors concern single sources, which are left out; the rest of the plan works.
        let broken = |d: &Diagnostic| d.severity == Severity::Error && d.code == &INVALID_SYNTAX;
        !self.failures.is_empty()
            || self.diagnostics.iter().any(broken)
            || self.bad_limit().is_some()
    }

    /// The errors in what the author wrote, each of which leaves something out of the plan. Not
    /// those about programs and folders that are missing now: the text is complete.
    pub fn written_errors(&self) -> impl Iterator<Item = &Diagnostic> {
        let is_error = |d: &&Diagnostic| d.severity == Severity::Error && !is_about_server(d.code);
        self.diagnostics.iter().filter(is_error)
    }

    /// Why the configuration could not be read at all, or `None` if it could.
    pub fn config_error(&self) -> Option<&LoadError> {
        self.failures.first().filter(|_| self.config_unreadable)
    }

    /// The first error in `[limits]`, `[serve]`, `[audit]`, `[browser]`, `[trust]` or the tables of
    /// the policy.
    /// A limit that cannot be read is replaced by its default, which may be looser than what the
    /// author wanted, so callers treat it as fatal.
    pub fn bad_limit(&self) -> Option<&Diagnostic> {
        // The first token of the path is the table that the diagnostic is about.
        let is_limit = |d: &&Diagnostic| {
            let table = d.path.tokens().next();
            table.is_some_and(|table| FATAL_TABLES.contains(&&*table))
        };
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error).find(is_limit)
    }

    /// The paths of sources that do not exist. Loading reports them, too; a command that does not
    /// get that far shows them beside the mistakes of the configuration.
    pub fn missing_paths(&self) -> impl Iterator<Item = &Path> {
        fn path(spec: &SourceSpec) -> Option<&Path> {
            match &spec.target {
                SourceTarget::Definitions(path)
                | SourceTarget::Executables(path)
                | SourceTarget::Program(path) => Some(path.as_path()),
                SourceTarget::Server(..) | SourceTarget::Builtin(..) => None,
            }
        }
        self.specs.iter().filter_map(path).filter(|path| !path.exists())
    }

    /// Adds a source, unless the same one is in the plan already. Two servers cannot have one
    /// namespace, nor a server and a built-in toolset: the first stays, and the second is a
    /// failure. Called for every source, whether it comes from a configuration, a servers file or
    /// the command line, so all of them are compared.
    fn add(&mut self, spec: SourceSpec) {
        // The same path or server twice on a command line is harmless.
        if self.specs.contains(&spec) {
            return;
        }
        let namespace = |spec: &SourceSpec| spec.target.namespace().map(Namespace::to_string);
        // Only of lists: files of definitions have namespaces of their own, which are compared
        // after reading.
        let taken = namespace(&spec)
            .filter(|name| self.specs.iter().any(|other| namespace(other).as_ref() == Some(name)));
        match taken {
            Some(name) => {
                let code = crate::codes::DUPLICATE_SOURCE.name;
                let message =
                    format!("two sources have the name `{name}`; the first stays ({code})");
                self.failures.push(LoadError::new(message));
            }
            None => self.specs.push(spec),
        }
    }

    /// The plan of the configuration file at `path`. Relative paths in it start at its folder.
    /// `options` complete those of each source.
    pub fn from_config(path: &Path, options: ReadOptions, variables: &Variables<'_>) -> SourcePlan {
        let mut plan = SourcePlan::default();
        plan.add_config(path, options, variables);
        plan
    }

    /// Adds the sources of a configuration file, and takes over its limits and levels.
    ///
    /// Everything in the file is reported even if nothing can be started: mistakes in the text,
    /// then what the rules about servers find in the settings, then what is missing on this
    /// machine.
    fn add_config(&mut self, path: &Path, options: ReadOptions, variables: &Variables<'_>) {
        // Absolute, because programs and working directories are resolved against its folder, and
        // the parent of a bare file name is empty.
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.files.push(path.to_owned());
        let text = match files::read(path) {
            Ok(bytes) => Source::decode(&files::relative_name(path), bytes),
            Err(error) => {
                self.failures.push(error);
                self.config_unreadable = true;
                return;
            }
        };
        let source = match text {
            Ok(source) => Arc::new(source),
            Err(error) => {
                self.failures
                    .push(LoadError::new(format!("cannot read `{}`: {error}", path.display())));
                self.config_unreadable = true;
                return;
            }
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let (config, diagnostics) = Config::parse(&source, folder, variables);
        self.ignores = Arc::new(IgnoreList::new(&config, &source, folder, &diagnostics));
        self.diagnostics.extend(diagnostics);
        let mut secrets = SecretVariables::of(&config.written);
        let found = config.written.iter().flat_map(|written| check_server(written, &mut secrets));
        self.diagnostics.extend(found.map(|finding| finding.in_config(&source)));
        self.limits = config.limits;
        self.check = config.check;
        self.levels = config.levels;
        self.serve = config.serve;
        self.audit = config.audit;
        self.browser = config.browser;
        self.trust = config.trust;
        self.lock = Some(folder.join(LOCK_NAME));
        self.policy = config.policy;
        let mut started = HashSet::new();
        for configured in config.sources {
            let anchor = Anchor { source: Arc::clone(&source), span: Some(configured.span) };
            let (span, known) = (configured.span, self.specs.len());
            let written = config.written.iter().find(|written| written.at.span == configured.span);
            self.add_configured(configured, (anchor, written), options, folder, variables);
            if self.specs.len() > known {
                started.insert(span);
            }
        }
        let is_server =
            |it: &&WrittenServer<ConfigPlace>| !it.command.is_empty() || it.url.is_some();
        for written in config.written.iter().filter(is_server) {
            if !started.contains(&written.at.span) {
                self.add_unstarted(&written.name, written.disabled, &source, &written.at.path);
            }
        }
        render::sort(&mut self.diagnostics);
    }

    /// Adds one `[[source]]`.
    ///
    /// `written` has its texts as they are written, from which messages and what is shown of its
    /// connection are made. A server that cannot be started now is reported and left out; the plan
    /// is made again when what is missing appears.
    ///
    /// `definitions`, `executables` and `builtin` become one spec each. A servers file becomes one
    /// for each server in it, and is the only kind that can become several. `command` and `url` are
    /// servers, whose parts are looked for on this machine first.
    fn add_configured(
        &mut self,
        source: SourceConfig,
        (anchor, written): (Anchor, Option<&WrittenServer<ConfigPlace>>),
        options: ReadOptions,
        folder: &Path,
        variables: &Variables<'_>,
    ) {
        let SourceConfig { name, kind, environment, compat, implementations, mut server, .. } =
            source;
        server.source = name.to_string();
        let settings = server.clone();
        let mut spec = SourceSpec {
            name: name.to_string(),
            // A placeholder, replaced below.
            target: SourceTarget::Definitions(PathBuf::new()),
            environment: environment.clone(),
            options: ReadOptions { compat: compat || options.compat, ..options },
            implementations,
            server,
            anchor: Some(anchor.clone()),
        };
        // Pairs of the configuration as the variables of a server.
        let variables_from = |list: Vec<(String, String)>| -> Vec<Variable> {
            list.into_iter()
                .map(|(name, value)| Variable { name, value: Some(value), ..Variable::default() })
                .collect()
        };
        let server = |connection, headers, directory: Option<PathBuf>| {
            let directory = directory.map(|path| path.display().to_string());
            Arc::new(Server {
                shown: written.and_then(|written| shown_if_different(written, &connection)),
                connection,
                environment: variables_from(environment),
                headers,
                directory,
                health_check: None,
                settings,
            })
        };
        spec.target = match kind {
            SourceKind::Definitions { path, format } => {
                let own = format.as_deref().and_then(format_by_name);
                spec.options.format = options.format.or(own);
                SourceTarget::Definitions(path)
            }
            SourceKind::Executables { folder } => SourceTarget::Executables(folder),
            SourceKind::ServersFile { path } => {
                // One source of the configuration becomes one spec for each server of the file. The
                // name of the source is not used: each server has its own.
                self.add_servers_file(&path, &spec, variables);
                return;
            }
            SourceKind::Command { mut words, directory } => {
                // A program with `/` is relative to the configuration file; a bare name is looked
                // up in `PATH`.
                if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
                    *program = folder.join(&*program).display().to_string();
                }
                // Where this program was started must not change what the server does.
                let directory = Some(directory.unwrap_or_else(|| folder.to_owned()));
                SourceTarget::Server(
                    server(Connection::Stdio { command: words }, Vec::new(), directory),
                    Some(name),
                )
            }
            SourceKind::Url { url, headers } => {
                let headers = variables_from(headers);
                SourceTarget::Server(server(connection_to(url), headers, None), Some(name))
            }
            SourceKind::Builtin { toolset } => SourceTarget::Builtin(toolset, name),
        };
        if let (SourceTarget::Server(server, _), Some(written)) = (&spec.target, written) {
            let missing = self.missing(server, written, variables);
            let stays = missing.iter().all(|finding| is_advice(finding.code));
            let found = missing.into_iter().map(|finding| finding.in_config(&anchor.source));
            self.diagnostics.extend(found);
            if !stays {
                return;
            }
        }
        self.add(spec);
    }

    /// The mistakes that keep a server from being started; none if it is switched off.
    ///
    /// They are the errors at the entry of the server or below it. Advice is left out: it keeps
    /// nothing from being started.
    pub fn reasons<'p>(
        &'p self,
        server: &'p UnstartedServer,
    ) -> impl Iterator<Item = &'p Diagnostic> {
        self.diagnostics.iter().filter(|d| {
            let within = d.path.as_str().strip_prefix(server.at.as_str());
            d.severity == Severity::Error
                && !is_advice(d.code)
                && Arc::ptr_eq(&d.source, &server.file)
                && within.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Notes a server that is not started, unless its file is named twice.
    fn add_unstarted(&mut self, name: &str, disabled: bool, file: &Arc<Source>, at: &DocumentPath) {
        let is_same = |known: &UnstartedServer| {
            known.at == *at && known.file.name() == file.name() && known.name == name
        };
        if !self.unstarted.iter().any(is_same) {
            let (name, file, at) = (name.to_owned(), Arc::clone(file), at.clone());
            self.unstarted.push(UnstartedServer { name, disabled, file, at });
        }
    }

    /// Those of the sources that are started or connected to, and not only read. Built-in toolsets
    /// list their tools without either.
    pub fn live_specs(&self) -> impl Iterator<Item = &SourceSpec> {
        let is_live = |spec: &&SourceSpec| {
            !matches!(spec.target, SourceTarget::Definitions(_) | SourceTarget::Builtin(..))
        };
        self.specs.iter().filter(is_live)
    }

    /// How many servers its author wrote down and did not switch off, also those that cannot be
    /// started because of a mistake.
    pub fn servers(&self) -> usize {
        let is_server = |spec: &&SourceSpec| matches!(spec.target, SourceTarget::Server(..));
        let unstarted = self.unstarted.iter().filter(|server| !server.disabled);
        self.specs.iter().filter(is_server).count() + unstarted.count()
    }

    /// The findings about parts of a server that are missing. The places where they could be are
    /// watched, so that the plan is made again once they are there.
    ///
    /// At most `MAX_WATCHED` files are watched. A missing script is only reported: its program
    /// starts, and says so itself.
    fn missing<P: Clone>(
        &mut self,
        server: &Server,
        written: &WrittenServer<P>,
        variables: &Variables<'_>,
    ) -> Vec<ServerFinding<P>> {
        let parts = missing_parts(server, variables("PATH").as_deref());
        for part in &parts {
            // They are looked at once a second, and the file may be hostile.
            if self.files.len() < MAX_WATCHED {
                self.files.extend(match part {
                    MissingPart::Program(files) => files.clone(),
                    MissingPart::Directory(directory) => vec![directory.clone()],
                    // It keeps nothing from being started.
                    MissingPart::Script(_) => Vec::new(),
                });
            }
        }
        parts.iter().map(|part| part.finding(written)).collect()
    }

    /// Removes everything that would have to be started or connected to, and built-in toolsets,
    /// whose definitions nobody can correct. Definitions stay. Returns how many programs and
    /// folders of programs were removed.
    pub fn remove_live(&mut self) -> usize {
        let is_program = |target: &SourceTarget| {
            matches!(target, SourceTarget::Executables(_) | SourceTarget::Program(_))
        };
        let programs = self.specs.iter().filter(|spec| is_program(&spec.target)).count();
        self.specs.retain(|spec| matches!(spec.target, SourceTarget::Definitions(_)));
        self.unstarted.clear();
        programs
    }

    /// The plan of the sources named on the command line.
    pub fn from_arguments(
        arguments: &[SourceArgument],
        options: ReadOptions,
        variables: &Variables<'_>,
    ) -> SourcePlan {
        let mut plan = SourcePlan::default();
        for argument in arguments {
            plan.add_argument(argument, options, variables);
        }
        render::sort(&mut plan.diagnostics);
        plan
    }

    /// Whether a path on the command line stands for something that must be run or connected to,
    /// and not only read: a program, a servers file, or a configuration, which may name both. A
    /// `--format` says that it is a definition.
    pub fn is_live(path: &Path, options: ReadOptions) -> bool {
        is_program(path)
            || Config::is_named(path)
            || (options.format.is_none() && may_be_servers_file(path))
    }

    /// Adds one source of the command line.
    ///
    /// A path is tried in this order: a program, a configuration, a servers file, definitions.
    /// `--format` says that it is a definition, so it is not looked into. Sources of the command
    /// line have default settings and no environment of their own.
    fn add_argument(
        &mut self,
        argument: &SourceArgument,
        options: ReadOptions,
        variables: &Variables<'_>,
    ) {
        let settings =
            |name: &str| ServerSettings { source: name.to_owned(), ..Default::default() };
        let server = |connection, name: &str| {
            let shown = masked_connection(&connection);
            let server = Arc::new(Server {
                shown: (shown != connection).then_some(shown),
                connection,
                environment: Vec::new(),
                headers: Vec::new(),
                directory: None,
                health_check: None,
                settings: settings(name),
            });
            SourceTarget::Server(server, None)
        };
        let (name, target) = match argument {
            SourceArgument::Url(url) => {
                // The name appears in messages, and a URL may have a password or a token in it.
                let name = redacted_url(url);
                let target = server(connection_to(url.clone()), &name);
                (name, target)
            }
            SourceArgument::Command(words) => {
                let name = format!("-- {}", words.first().map_or("", String::as_str));
                let target = server(Connection::Stdio { command: words.clone() }, &name);
                (name, target)
            }
            SourceArgument::Path(path) if !files::is_stdin(path) && !path.exists() => {
                let message = format!("cannot read `{}`: there is no such file", path.display());
                self.failures.push(LoadError::new(message));
                return;
            }
            SourceArgument::Path(path) if is_program(path) => {
                (files::display_name(path), SourceTarget::Program(path.clone()))
            }
            SourceArgument::Path(path) if Config::is_named(path) => {
                return self.add_config(path, options, variables);
            }
            SourceArgument::Path(path) => {
                if options.format.is_none() && may_be_servers_file(path) {
                    let spec = SourceSpec {
                        name: String::new(),
                        target: SourceTarget::Definitions(PathBuf::new()),
                        environment: Vec::new(),
                        options,
                        implementations: None,
                        server: ServerSettings::default(),
                        anchor: None,
                    };
                    self.add_servers_file(path, &spec, variables);
                    return;
                }
                (files::display_name(path), SourceTarget::Definitions(path.clone()))
            }
        };
        self.add(SourceSpec {
            server: settings(&name),
            name,
            target,
            environment: Vec::new(),
            options,
            implementations: None,
            anchor: None,
        });
    }

    /// Reports that the server at `at` cannot be started. A command line in `command` has been
    /// reported already: that is why there is no such program.
    ///
    /// One mistake should be one diagnostic: `"command": "npx -y x"` is suspicious, and that no
    /// program of this name is found follows from it.
    fn report_missing(&mut self, missing: Diagnostic, at: &DocumentPath) {
        let is_reason = |d: &Diagnostic| {
            d.code == &SUSPICIOUS_COMMAND
                && Arc::ptr_eq(&d.source, &missing.source)
                && d.path
                    .as_str()
                    .strip_prefix(at.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
                && missing.code == &COMMAND_NOT_FOUND
        };
        if !self.diagnostics.iter().any(is_reason) {
            self.diagnostics.push(missing);
        }
    }

    /// Adds the servers of a servers file that are not disabled. `source` is the one that names the
    /// file: its environment completes that of each server, and references are expanded with it
    /// first; its options and settings hold for all of them.
    ///
    /// The text is read twice, with two meanings: `read_servers` expands references and says what
    /// would be started, `written_servers` has the texts as they are written, for rules and
    /// messages. An entry is identified by its path in the document.
    ///
    /// ```text
    /// text ─┬─ read_servers ────▶ servers to start, references expanded ─┐ by path
    ///       └─ written_servers ─▶ the same servers as written ───────────┤
    ///            └ check_server ─▶ findings of the rules                 │
    ///                                                                    ▼
    ///   disabled? left out ─▶ + variables of the source ─▶ parts missing here? reported, left out
    ///                                                                    └─▶ SourceSpec
    /// ```
    ///
    /// A variable that the file sets for a server wins over the same one of `source`. In
    /// references, the variables of `source` come first, then the environment of this program, then
    /// the defaults of `inputs`.
    ///
    /// `SUSPICIOUS_COMMAND` is decided at the end. The reader reports a command line in `command`
    /// as a warning, because a program may have a space in its name. If the server is in the plan,
    /// there is such a program, and the warning is removed; it is removed for a disabled server,
    /// too. All others become errors.
    ///
    /// Every entry that is not in the plan is noted as unstarted, whether it is switched off, has a
    /// mistake or lacks a part on this machine.
    fn add_servers_file(&mut self, path: &Path, source: &SourceSpec, variables: &Variables<'_>) {
        let environment = &source.environment;
        // Also if it cannot be read, so that the plan is made again once the file is corrected.
        self.files.push(path.to_owned());
        if self.lock.is_none()
            && let Ok(path) = std::path::absolute(path)
        {
            self.lock = path.parent().map(|folder| folder.join(LOCK_NAME));
        }
        let document = match servers_file::parse(path) {
            Ok((document, problems)) => {
                self.diagnostics.extend(problems);
                Arc::new(document)
            }
            Err(error) => return self.failures.push(error),
        };
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // Variables of the source first, so that a configuration can supply secrets for a file that
        // another client owns.
        let defaults = servers_file::input_defaults(&document);
        let own = |name: &str| {
            let of = |list: &[(String, String)]| {
                list.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
            };
            of(environment).or_else(|| variables(name)).or_else(|| of(&defaults))
        };
        let scope = VariableScope { variables: &own, workspace: workspace_of(&absolute) };
        let (servers, findings) = read_servers(&document, &scope);
        let written = servers_file::written_servers(&document);
        let mut secrets = SecretVariables::of(&written);
        let rules = written.iter().flat_map(|written| check_server(written, &mut secrets));
        let rules = rules.map(ServerFinding::in_file);
        let all = findings.into_iter().chain(rules.take(MAX_RULE_FINDINGS));
        let located = |finding: Finding| {
            let about = server_around(&document, &finding.at);
            Diagnostic { about: about.map(Arc::from), ..locate(finding, &document) }
        };
        self.diagnostics.extend(all.map(located));
        // A file without the expected keys was named by mistake; one with an empty list is fine.
        if servers.is_empty() && !is_servers_file(&document) {
            let message = format!(
                "`{}` lists no servers (looked for `mcpServers` and `servers`)",
                path.display()
            );
            self.failures.push(LoadError::new(message));
        }
        let by_place: HashMap<&str, &WrittenServer<DocumentPath>> =
            written.iter().map(|written| (written.at.as_str(), written)).collect();
        let mut missing = 0;
        // The entries whose `command` is not suspicious although it has a space, and the servers
        // that are in the plan.
        // `npx -y server` in `command` is suspicious, unless a program has just that name.
        let (mut unsuspicious, mut started) = (HashSet::new(), HashSet::new());
        for mut named in servers {
            if named.disabled {
                unsuspicious.insert(named.at.as_str().to_owned());
                continue;
            }
            // Cannot fail: the reader reports such a name and leaves the entry out.
            let Ok(namespace) = Namespace::parse(&named.name) else { continue };
            // What the file sets for a server is more specific than what the source sets for all of
            // them.
            let known = |name: &str| named.server.environment.iter().any(|v| v.name == name);
            let added: Vec<Variable> = environment
                .iter()
                .filter(|(name, _)| !known(name))
                .map(|(name, value)| Variable {
                    name: name.clone(),
                    value: Some(value.clone()),
                    ..Variable::default()
                })
                .collect();
            named.server.environment.extend(added);
            if let Some(written) = by_place.get(named.at.as_str()) {
                named.server.shown = shown_if_different(written, &named.server.connection);
                let found = self.missing(&named.server, written, variables);
                let stays = found.iter().all(|finding| is_advice(finding.code));
                for finding in found {
                    missing += 1;
                    if missing <= MAX_RULE_FINDINGS {
                        self.report_missing(located(finding.in_file()), &named.at);
                    }
                }
                if !stays {
                    continue;
                }
            }
            started.insert(named.at.as_str().to_owned());
            let entry = document.root().find(&named.at);
            let anchor = entry.and_then(Node::key).map(|key| Anchor {
                source: Arc::clone(document.source()),
                span: Some(key.span()),
            });
            let settings = ServerSettings { source: named.name.clone(), ..source.server.clone() };
            named.server.settings = settings.clone();
            let target = SourceTarget::Server(Arc::new(named.server), Some(namespace));
            self.add(SourceSpec {
                name: named.name,
                target,
                environment: Vec::new(),
                options: source.options,
                implementations: None,
                server: settings,
                anchor,
            });
        }
        // A program of this name is there, or nobody is going to start it.
        unsuspicious.extend(started.iter().cloned());
        self.diagnostics.retain(|d| {
            let parents = std::iter::successors(d.path.as_str().rsplit_once('/'), |(parent, _)| {
                parent.rsplit_once('/')
            });
            d.code != &SUSPICIOUS_COMMAND
                || !Arc::ptr_eq(&d.source, document.source())
                || !parents.into_iter().any(|(parent, _)| unsuspicious.contains(parent))
        });
        for suspicious in self.diagnostics.iter_mut().filter(|d| d.code == &SUSPICIOUS_COMMAND) {
            suspicious.severity = Severity::Error;
        }
        for written in written.iter().filter(|it| !started.contains(it.at.as_str())) {
            let WrittenServer { name, disabled, at, .. } = written;
            self.add_unstarted(name, *disabled, document.source(), at);
        }
    }
}

/// The tables in which a mistake stops commands that make calls.
const FATAL_TABLES: [&str; 9] =
    ["limits", "serve", "audit", "browser", "trust", "policy", "rule", "grant", "agent"];

/// Findings of the rules about servers that are kept for one file, which may be hostile.
const MAX_RULE_FINDINGS: usize = 1_000;

/// Files from which on no further places of missing programs are watched.
const MAX_WATCHED: usize = 1_000;

/// The connection as it may be shown, if that is not the connection itself.
///
/// `None` saves a copy of what most servers have: a command without secrets.
fn shown_if_different<P>(written: &WrittenServer<P>, is: &Connection) -> Option<Connection> {
    Some(shown_connection(written, is)).filter(|shown| shown != is)
}

/// The transport to a server behind this URL. Its scheme decides; an address that ends in `/sse` is
/// by convention one of the older transport, for which streamable HTTP is tried first.
fn connection_to(url: String) -> Connection {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    match is_address(&url, &["ws", "wss"]) {
        true => Connection::WebSocket { url },
        false if path.ends_with("/sse") => Connection::Sse { url },
        false => Connection::Http { url },
    }
}

/// The format of this name. `config` has checked that it exists.
fn format_by_name(name: &str) -> Option<FormatId> {
    toolwright_formats::by_name(name).map(|format| format.id())
}

/// Whether a file is a program that follows the process protocol: named `*-tool`, and executable.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let named = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-tool"));
    // Any of the three execute bits: whether this user may run it is decided when it is run.
    let runs = || path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    named && runs()
}

/// Whether a file is a servers file. Only JSON files are looked at, and parsed only if they have
/// one of the keys: definitions should not be parsed twice, here and where they are loaded.
///
/// The keys are looked for as bytes first. A definition may contain one of these words by chance;
/// then the parsed document decides.
fn may_be_servers_file(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|ext| {
        ["json", "jsonc", "code-workspace"].iter().any(|known| ext.eq_ignore_ascii_case(known))
    });
    is_json
        && path.is_file()
        && files::read(path).is_ok_and(|bytes| {
            // On bytes: the file need not be UTF-8, and most files are ruled out here.
            let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
            let keys: [&[u8]; 3] = [b"\"mcpServers\"", b"\"servers\"", b"\"context_servers\""];
            // What all of them end with, so that most files are read once here and not three times.
            has(b"ervers\"")
                && keys.into_iter().any(has)
                && is_servers_file(&Document::parse(
                    &files::display_name(path),
                    bytes,
                    Syntax::Jsonc,
                ))
        })
}
