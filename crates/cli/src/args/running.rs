//! The arguments of the commands that run tools, functions of definitions or servers, and of those
//! that let clients do so. `md`, which runs the fetch of the web tools, is here as well.

use std::path::PathBuf;

use clap::ValueEnum;
use toolwright_sandbox::JailPolicy;
use toolwright_workspace::{CLIENTS, Client, ReadOptions};

use super::{AllowArgs, EnvironmentArgs, SelectedSources, target_ids};

/// `toolwright init`, in `init.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Write the file without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Replace the `toolwright.toml` that is here. Default: refuse, so that nothing written by hand
    /// is lost
    #[arg(long)]
    pub(crate) force: bool,
}

/// `toolwright install`, in `install.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// The client to change
    #[arg(value_parser = client_ids())]
    pub(crate) client: String,
    /// Write into the client's file of the project, beside the configuration. Default: into the one
    /// of the user
    #[arg(long)]
    pub(crate) project: bool,
    /// Take the entry out of the file again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Write the file without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Serve this configuration. Default: `toolwright.toml` in this folder or the nearest one above
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The clients come from the table of their files.
fn client_ids() -> clap::builder::PossibleValuesParser {
    let value = |client: &Client| clap::builder::PossibleValue::new(client.id).help(client.name);
    CLIENTS.iter().map(value).collect::<Vec<_>>().into()
}

/// The sources of the tools that `call` and `serve` run: a configuration, or the named ones alone.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// Use this configuration. Default: `toolwright.toml` in this folder or the nearest one above
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "command"])]
    pub(crate) config: Option<PathBuf>,
    /// Use this source instead of a configuration; can be repeated
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from: Vec<String>,
    /// Command line of an MCP server to start and use instead of a configuration, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Use tools with mistakes that are common in published definitions; docs/formats.md lists them
    #[arg(long)]
    pub(crate) compat: bool,
    #[command(flatten)]
    pub(crate) allowed: AllowArgs,
    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

impl SourceArgs {
    /// The options for the catalog, which runs the rules at its gate.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions { compat: self.compat, ..ReadOptions::default() }
    }
}

/// How the JavaScript of definitions is run, for all commands that can run it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SandboxArgs {
    /// Refuse to run JavaScript unless all layers of its sandbox hold (see `toolwright doctor`)
    #[arg(long)]
    require_jail: bool,
}

impl SandboxArgs {
    /// The jails in which JavaScript is run. By default any, because the user is there to see what
    /// is noted about it; `serve` has a policy of its own.
    pub(crate) fn jail_policy(&self) -> JailPolicy {
        if self.require_jail { JailPolicy::RequireAll } else { JailPolicy::AcceptAny }
    }
}

/// `toolwright test`, in `test/mod.rs`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// Call the tools and compare their results. Default: check the examples without a call
    #[arg(long)]
    pub(crate) run: bool,
    /// Require results equal to the expected ones. Default: they may have more members
    #[arg(long)]
    pub(crate) exact: bool,
    /// Run only examples with this text in their name or their tool's name; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// Run this many examples at the same time. Default: the number of cores
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<usize>,
    /// Write results to standard output in this format
    #[arg(long, value_enum, default_value_t = TestFormat::Tree, value_name = "FORMAT")]
    pub(crate) output_format: TestFormat,
    #[command(flatten)]
    pub(crate) allowed: AllowArgs,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// The upper bound keeps a typing error from starting a hundred thousand processes.
fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("expected a number from 1 to 1024".to_owned()),
    }
}

/// How the results of examples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// A tree of files, tools and examples
    Tree,
    /// One JSON object per line, then one with the totals
    Json,
    /// JUnit XML, for continuous integration
    Junit,
}

/// `toolwright eval`, in `eval.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// The definition, a file or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) function: FunctionSelector,
    /// The arguments of the function as JSON, or `-` to read them from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Print the result or the failure as JSON, with log, time and memory
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// The function to run: exactly one of the three, because ids are unique only within a list.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct FunctionSelector {
    /// Run the helper with this id
    #[arg(long, value_name = "ID")]
    pub(crate) helper: Option<String>,
    /// Run the processor with this id
    #[arg(long, value_name = "ID")]
    pub(crate) processor: Option<String>,
    /// Run the validator with this id
    #[arg(long, value_name = "ID")]
    pub(crate) validator: Option<String>,
}

/// `toolwright call`, in `call.rs`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "toolwright call [OPTIONS] ID [KEY=VALUE]... [-- COMMAND...]
       toolwright call [OPTIONS] --as TARGET [-- COMMAND...]")]
pub(crate) struct CallArgs {
    /// The id of the tool, as `list` prints it, its name if only one tool has that name, or
    /// `namespace:name:version`. Without a version: the newest one
    #[arg(
        required_unless_present = "vendor",
        conflicts_with = "vendor",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) id: String,
    /// An argument: `key=value`, converted to the type in the tool's schema, or `key:=JSON`, as in
    /// `paths:='["a.txt", "b.txt"]'`
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    pub(crate) pairs: Vec<String>,
    /// Pass all arguments as one JSON object, or `-` to read it from standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Print the whole result or the failure as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write images, audio and other data of the result to files in this folder, and print their
    /// paths
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Give up after this many milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Fill in the defaults of the tool's input schema for arguments that are not given
    #[arg(long)]
    pub(crate) defaults: bool,
    /// Read the tool calls of this target from standard input: a response, a list of calls or one
    /// call. Run all of them and print the results that go back. `convert --help` has the targets
    #[arg(
        long = "as",
        value_name = "TARGET",
        value_parser = target_ids(),
        hide_possible_values = true,
        conflicts_with_all = ["args", "json", "save"]
    )]
    pub(crate) vendor: Option<String>,
    /// The file that `convert --session` wrote. Default: computed again from the source
    #[arg(long, value_name = "FILE", requires = "vendor")]
    pub(crate) session: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// `toolwright serve`, in `serve.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Serve these sources instead of a configuration: files, folders, URLs of MCP servers,
    /// `mcpServers` files, `*-tool` programs
    #[arg(value_name = "SOURCE", conflicts_with = "config")]
    sources: Vec<String>,
    /// Listen for streamable HTTP on this address (such as `127.0.0.1:8080`; port 0 takes a free
    /// one) instead of serving standard streams. Other addresses than loopback require a token in
    /// the variable TOOLWRIGHT_TOKEN
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Run JavaScript although this kernel lacks seccomp or landlock (see `toolwright doctor`)
    #[arg(long, conflicts_with = "require_jail")]
    allow_weak_jail: bool,
    /// Neither use the lists that servers gave in the last run nor keep them for the next one
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

impl ServeArgs {
    /// The sources, also those that are named without `--from`.
    pub(crate) fn all_sources(&self) -> SourceArgs {
        let mut source = self.source.clone();
        source.from.extend(self.sources.iter().cloned());
        source
    }

    /// The jails in which JavaScript is run. A server runs what agents choose, for a long time and
    /// unattended, so that a weak jail must be the decision of the operator.
    pub(crate) fn jail_policy(&self) -> JailPolicy {
        match self.source.sandbox.jail_policy() {
            JailPolicy::AcceptAny if !self.allow_weak_jail => JailPolicy::RequireEssential,
            policy => policy,
        }
    }
}

/// `toolwright doctor`, in `doctor.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Also connect to the servers of these sources and make their health checks: definitions,
    /// URLs of MCP servers, `mcpServers` files, configurations
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,
    #[command(flatten)]
    source: SourceArgs,
}

impl DoctorArgs {
    /// The sources whose servers are looked at; `None` if none is named. Those of a configuration
    /// that is only found are not started.
    pub(crate) fn named_sources(&self) -> Option<SourceArgs> {
        let mut source = self.source.clone();
        source.from.extend(self.sources.iter().cloned());
        let is_named =
            !source.from.is_empty() || !source.command.is_empty() || source.config.is_some();
        is_named.then_some(source)
    }
}

/// `toolwright browser`, in `browser_command.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct BrowserArgs {
    #[command(subcommand)]
    pub(crate) action: BrowserAction,
}

/// What is done with the browser.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum BrowserAction {
    /// Open a page in a window with the profile of the configuration, so that you can sign in.
    /// Ends when you close the window
    Login(BrowserPageArgs),
    /// Open a page in a window, to try it. Ends when you close the window
    Open(BrowserPageArgs),
    /// List the tools that a page itself offers (WebMCP)
    Tools(BrowserPageArgs),
}

/// The page, and whose settings are used.
#[derive(Debug, clap::Args)]
pub(crate) struct BrowserPageArgs {
    /// The address of the page
    pub(crate) url: String,
    /// Use this configuration. Default: `toolwright.toml` in this folder or the nearest one above
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// `toolwright md`, in `md.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct MdArgs {
    /// The page: a URL, an HTML file, or `-` for standard input
    #[arg(value_name = "FILE|URL")]
    pub(crate) page: String,
    /// Also open addresses that are not on the public internet
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Let the proxy decide which addresses may be fetched
    #[arg(long)]
    pub(crate) trust_proxy: bool,
    /// The `User-Agent` of the requests
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,
    /// Open the page in Chromium first, so that its scripts run; `[browser]` of the configuration
    /// decides which addresses may be opened
    #[arg(long, conflicts_with_all = ["trust_proxy", "user_agent"])]
    pub(crate) browser: bool,
    /// Only the article: no menus, share bars, related links, notices and comments
    #[arg(long)]
    pub(crate) main: bool,
    /// With `--main`: list on standard error what was left out, and why
    #[arg(long, requires = "main")]
    pub(crate) explain: bool,
    /// Print title, addresses, author, date, language, site and size before the page, as YAML
    #[arg(long)]
    pub(crate) front_matter: bool,
    /// The first line to print, from 1 on
    #[arg(long, value_name = "LINE", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..), hide_default_value = true)]
    pub(crate) offset: u64,
    /// How many lines to print at most
    #[arg(long, value_name = "LINES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Count characters instead of lines in `--offset` and `--limit`
    #[arg(long)]
    pub(crate) chars: bool,
    /// How to print links
    #[arg(long, value_enum, default_value_t = MdLinks::Inline, value_name = "STYLE")]
    pub(crate) links: MdLinks,
    /// Leave out images
    #[arg(long)]
    pub(crate) no_images: bool,
}

/// How `md` prints links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MdLinks {
    /// With their addresses in the text
    Inline,
    /// With numbers, and the addresses at the end of the page
    Footnotes,
    /// Only their texts
    None,
}

/// `toolwright audit`, in `audit.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Only calls of the last hours or days: a number with `s`, `m`, `h` or `d`, such as `1h`
    #[arg(long, value_name = "TIME", value_parser = crate::audit::parse_age)]
    pub(crate) since: Option<std::time::Duration>,
    /// Only calls of the tool with this id or name
    #[arg(long, value_name = "ID")]
    pub(crate) tool: Option<String>,
    /// Only calls of this agent: `local` (terminal, standard streams), `http`, or the name of an
    /// `[[agent]]`
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only calls that ended with this code; `OK` for those that succeeded
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Go on, and print each call when it has ended
    #[arg(long)]
    pub(crate) follow: bool,
    /// How to print the calls
    #[arg(long, value_enum, default_value_t = AuditFormat::Text, value_name = "FORMAT")]
    pub(crate) output_format: AuditFormat,
}

/// How `audit` prints calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AuditFormat {
    /// One line per call
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// `toolwright trust`, in `trust.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// Accept the tool or prompt of this name as it is now, or `definition`, `instructions` or
    /// `program`; can be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub(crate) accept: Vec<String>,
    /// Accept everything as it is now
    #[arg(long, conflicts_with_all = ["accept", "check"])]
    pub(crate) all: bool,
    /// Write `toolwright.lock` beside the configuration, for a team to commit. Once there is one,
    /// it is always kept up to date
    #[arg(long, conflicts_with = "check")]
    pub(crate) lock: bool,
    /// Accept nothing, and fail if something differs from the lock, or without one from the store
    #[arg(long)]
    pub(crate) check: bool,
    /// How to print the differences
    #[arg(long, value_enum, default_value_t = TrustFormat::Text, value_name = "FORMAT")]
    pub(crate) output_format: TrustFormat,
}

/// How `trust` prints differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TrustFormat {
    /// As `diff` prints them
    Text,
    /// One JSON object
    Json,
}
