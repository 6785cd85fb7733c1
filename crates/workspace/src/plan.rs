//! What is to be loaded: the configuration, or what the command line named, as a list of sources
//! with all references expanded. Nothing is started or connected here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolwright_model::{
    CallLimits, Connection, FormatId, Namespace, Server, Variable, redacted_url,
};
use toolwright_source::codes::INVALID_SYNTAX;
use toolwright_source::{Diagnostic, Document, Severity, Source, Syntax, locate};

use crate::config::{Config, Levels, SourceConfig, SourceKind};
use crate::files::{self, LoadError, Overlay};
use crate::load::ReadOptions;
use crate::servers_file::{is_servers_file, read_servers};
use crate::variables::{VariableScope, Variables, workspace_of};

/// Something on the command line that holds tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceArgument {
    /// A file, a folder, or `-`.
    Path(PathBuf),
    /// A running server.
    Url(String),
    /// A server to start.
    Command(Vec<String>),
}

impl SourceArgument {
    /// What a word on the command line names.
    pub fn parse(word: &str) -> SourceArgument {
        let is_url = ["http://", "https://"].iter().any(|scheme| {
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
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// What messages call it.
    pub name: String,
    /// What it is.
    pub target: SourceTarget,
    /// What it adds to the environment of its programs.
    pub environment: Vec<(String, String)>,
    /// How its definitions are read.
    pub options: ReadOptions,
    /// Where the bodies of its tools are, if not beside their manifests.
    pub implementations: Option<PathBuf>,
}

/// What a source is.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceTarget {
    /// Files and folders of definitions.
    Definitions(PathBuf),
    /// A folder of `*-tool` programs.
    Executables(PathBuf),
    /// One such program.
    Program(PathBuf),
    /// An MCP server; the namespace of its tools, if it has one.
    Server(Arc<Server>, Option<Namespace>),
}

/// The sources, and what was wrong on the way to them.
#[derive(Debug)]
pub struct SourcePlan {
    /// The sources, in order.
    pub specs: Vec<SourceSpec>,
    /// The configuration's limits.
    pub limits: CallLimits,
    /// How long a first list of tools waits for servers that are still starting.
    pub startup: Duration,
    /// What the configuration makes of codes.
    pub levels: Levels,
    /// Mistakes in the configuration and in servers files.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be read at all.
    pub failures: Vec<LoadError>,
    /// The files that this was made from.
    pub files: Vec<PathBuf>,
    /// Whether the configuration itself could not be read.
    config_unreadable: bool,
}

/// What a first list of tools waits for slow servers, unless the configuration says otherwise.
const DEFAULT_STARTUP: Duration = Duration::from_secs(3);

impl Default for SourcePlan {
    fn default() -> SourcePlan {
        SourcePlan {
            specs: Vec::new(),
            limits: CallLimits::default(),
            startup: DEFAULT_STARTUP,
            levels: Levels::new(),
            diagnostics: Vec::new(),
            failures: Vec::new(),
            files: Vec::new(),
            config_unreadable: false,
        }
    }
}

impl SourcePlan {
    /// Whether it is only a part of what somebody wrote: a file could not be read, or not parsed.
    pub fn is_broken(&self) -> bool {
        let broken = |d: &Diagnostic| d.severity == Severity::Error && d.code == &INVALID_SYNTAX;
        !self.failures.is_empty()
            || self.diagnostics.iter().any(broken)
            || self.bad_limit().is_some()
    }

    /// Why the configuration itself could not be read, if so: then nothing of it is known.
    pub fn config_error(&self) -> Option<&LoadError> {
        self.failures.first().filter(|_| self.config_unreadable)
    }

    /// What is wrong with a limit: one that cannot be read would be looser than somebody wanted it.
    pub fn bad_limit(&self) -> Option<&Diagnostic> {
        let is_limit =
            |d: &&Diagnostic| d.path.tokens().next().is_some_and(|token| token == "limits");
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error).find(is_limit)
    }

    /// Adds a source, unless it is there already or its name is another's.
    fn add(&mut self, spec: SourceSpec) {
        if self.specs.contains(&spec) {
            return;
        }
        let namespace = |spec: &SourceSpec| match &spec.target {
            SourceTarget::Server(_, Some(namespace)) => Some(namespace.to_string()),
            _ => None,
        };
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

    /// The plan of a configuration file.
    pub fn from_config(path: &Path, variables: &Variables<'_>) -> SourcePlan {
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut plan = SourcePlan { files: vec![path.to_owned()], ..SourcePlan::default() };
        let text = match std::fs::read(path) {
            Ok(bytes) => Source::decode(&files::display_name(path), bytes),
            Err(error) => {
                let message =
                    format!("cannot read `{}`: {}", path.display(), files::io_reason(&error));
                plan.failures.push(LoadError::new(message));
                plan.config_unreadable = true;
                return plan;
            }
        };
        let source = match text {
            Ok(source) => Arc::new(source),
            Err(error) => {
                plan.failures
                    .push(LoadError::new(format!("cannot read `{}`: {error}", path.display())));
                plan.config_unreadable = true;
                return plan;
            }
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let (config, diagnostics) = Config::parse(&source, folder, variables);
        plan.diagnostics = diagnostics;
        plan.limits = config.limits;
        plan.levels = config.levels;
        plan.startup = config.startup.unwrap_or(DEFAULT_STARTUP);
        for source in config.sources {
            plan.add_configured(source, folder, variables);
        }
        plan
    }

    fn add_configured(&mut self, source: SourceConfig, folder: &Path, variables: &Variables<'_>) {
        let SourceConfig { name, kind, environment, compat, implementations, .. } = source;
        let mut spec = SourceSpec {
            name: name.to_string(),
            target: SourceTarget::Definitions(PathBuf::new()),
            environment: environment.clone(),
            options: ReadOptions { compat, ..ReadOptions::default() },
            implementations,
        };
        let variables_from = |list: Vec<(String, String)>| -> Vec<Variable> {
            list.into_iter()
                .map(|(name, value)| Variable { name, value: Some(value), ..Variable::default() })
                .collect()
        };
        let server = |connection, headers, directory: Option<PathBuf>| {
            let directory = directory.map(|path| path.display().to_string());
            Arc::new(Server {
                connection,
                environment: variables_from(environment),
                headers,
                directory,
                health_check: None,
            })
        };
        spec.target = match kind {
            SourceKind::Definitions { path, format } => {
                spec.options.format = format.as_deref().and_then(format_by_name);
                SourceTarget::Definitions(path)
            }
            SourceKind::Executables { folder } => SourceTarget::Executables(folder),
            SourceKind::ServersFile { path } => {
                self.add_servers_file(&path, spec.options, &spec.environment, variables);
                return;
            }
            SourceKind::Command { mut words, directory } => {
                // A path is relative to the file, and so is everything the server looks for.
                if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
                    *program = folder.join(&*program).display().to_string();
                }
                let directory = Some(directory.unwrap_or_else(|| folder.to_owned()));
                SourceTarget::Server(
                    server(Connection::Stdio { command: words }, Vec::new(), directory),
                    Some(name),
                )
            }
            SourceKind::Url { url, headers } => {
                let headers = variables_from(headers);
                SourceTarget::Server(server(Connection::Http { url }, headers, None), Some(name))
            }
        };
        self.add(spec);
    }

    /// The plan of what was named on the command line.
    pub fn from_arguments(
        arguments: &[SourceArgument],
        options: ReadOptions,
        variables: &Variables<'_>,
    ) -> SourcePlan {
        let mut plan = SourcePlan::default();
        for argument in arguments {
            plan.add_argument(argument, options, variables);
        }
        plan
    }

    /// Whether a path stands for something that has to be asked: a program, or a list of servers.
    pub fn is_live(path: &Path, options: ReadOptions) -> bool {
        is_program(path) || (options.format.is_none() && may_be_servers_file(path))
    }

    fn add_argument(
        &mut self,
        argument: &SourceArgument,
        options: ReadOptions,
        variables: &Variables<'_>,
    ) {
        let server = |connection| {
            Arc::new(Server {
                connection,
                environment: Vec::new(),
                headers: Vec::new(),
                directory: None,
                health_check: None,
            })
        };
        let (name, target) = match argument {
            SourceArgument::Url(url) => (
                redacted_url(url),
                SourceTarget::Server(server(Connection::Http { url: url.clone() }), None),
            ),
            SourceArgument::Command(words) => {
                let name = format!("-- {}", words.first().map_or("", String::as_str));
                (
                    name,
                    SourceTarget::Server(
                        server(Connection::Stdio { command: words.clone() }),
                        None,
                    ),
                )
            }
            SourceArgument::Path(path) if !files::is_stdin(path) && !path.exists() => {
                let message = format!("cannot read `{}`: there is no such file", path.display());
                self.failures.push(LoadError::new(message));
                return;
            }
            SourceArgument::Path(path) if is_program(path) => {
                (files::display_name(path), SourceTarget::Program(path.clone()))
            }
            SourceArgument::Path(path) => {
                if options.format.is_none() && may_be_servers_file(path) {
                    self.add_servers_file(path, options, &[], variables);
                    return;
                }
                (files::display_name(path), SourceTarget::Definitions(path.clone()))
            }
        };
        self.add(SourceSpec {
            name,
            target,
            environment: Vec::new(),
            options,
            implementations: None,
        });
    }

    fn add_servers_file(
        &mut self,
        path: &Path,
        options: ReadOptions,
        environment: &[(String, String)],
        variables: &Variables<'_>,
    ) {
        self.files.push(path.to_owned());
        let document = match Overlay::default().parse(path) {
            Ok(document) => Arc::new(document),
            Err(error) => return self.failures.push(error),
        };
        self.diagnostics.extend(document.problems().iter().cloned());
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let own = |name: &str| {
            let own = environment.iter().find(|(known, _)| known == name);
            own.map(|(_, value)| value.clone()).or_else(|| variables(name))
        };
        let scope = VariableScope { variables: &own, workspace: workspace_of(&absolute) };
        let (servers, findings) = read_servers(&document, &scope);
        self.diagnostics.extend(findings.into_iter().map(|finding| locate(finding, &document)));
        if servers.is_empty() && !is_servers_file(&document) {
            let message = format!(
                "`{}` lists no servers (looked for `mcpServers` and `servers`)",
                path.display()
            );
            self.failures.push(LoadError::new(message));
        }
        for mut named in servers.into_iter().filter(|named| !named.disabled) {
            let Ok(namespace) = Namespace::parse(&named.name) else { continue };
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
            let target = SourceTarget::Server(Arc::new(named.server), Some(namespace));
            self.add(SourceSpec {
                name: named.name,
                target,
                environment: Vec::new(),
                options,
                implementations: None,
            });
        }
    }
}

fn format_by_name(name: &str) -> Option<FormatId> {
    toolwright_formats::by_name(name).map(|format| format.id())
}

/// Whether a file is a program that speaks the process protocol: named `*-tool` and executable.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let named = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-tool"));
    let runs = || path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    named && runs()
}

/// Looks into a JSON file only: definitions are read once, where they are loaded.
fn may_be_servers_file(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("json"));
    is_json
        && path.is_file()
        && std::fs::read(path).is_ok_and(|bytes| {
            let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
            (has(b"\"mcpServers\"") || has(b"\"servers\""))
                && is_servers_file(&Document::parse(
                    &files::display_name(path),
                    bytes,
                    Syntax::Json,
                ))
        })
}
