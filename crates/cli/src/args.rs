//! The command line of all commands. `clap` derives the parser, the help texts, the shell
//! completions and the manual pages from the types in this file, so they cannot disagree.
//!
//! The doc comments of commands and arguments are what users read with `--help`; those of types are
//! for readers of the code. No command is executed here: each has a file of its own, and `main.rs`
//! chooses it.
//!
//! Arguments that several commands share are structs of their own:
//!
//! ```text
//! SelectedSources  show, list, check, test, cost, convert: without sources, what
//!                  `sources::resolve` finds
//! SourceArgs       call, serve                    `--from`: the positionals of `call` are an id
//! ReadingArgs, ReportArgs, SandboxArgs            parts of the above
//! ```

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand, ValueEnum};
use toolwright_formats::WriteTarget;
use toolwright_sandbox::JailPolicy;
use toolwright_schema::VendorTarget;
use toolwright_source::Severity;
use toolwright_workspace::{CLIENTS, Client, Config, ReadOptions};

/// One toolchain for the tools that AI agents call.
#[derive(Debug, Parser)]
#[command(name = "toolwright", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct CliArgs {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

// In the order in which `--help` lists them: first those that only read, then those that run tools.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Show every tool in full: parameters, limits, how it runs
    Show(ShowArgs),
    /// List the tools of files, folders and servers, one per line
    List(ListArgs),
    /// Check definitions against every rule, and fix them on request
    Check(CheckArgs),
    /// Count the tokens that tools cost a model, and find what would save most
    Cost(CostArgs),
    /// Show what changed between two sets of definitions, and which new version that needs
    Diff(DiffArgs),
    /// Write a definition in another format, and report what is lost
    Convert(ConvertArgs),
    /// Rewrite definitions for the newest version of their format
    Upgrade(UpgradeArgs),
    /// List the formats, and the fields and schema keywords that each one holds
    Formats(FormatsArgs),
    /// Write a small definition to start from
    New(NewArgs),
    /// Explain the code of a diagnostic, or list all codes
    Explain(ExplainArgs),
    /// Write a `toolwright.toml` from the servers configured in your MCP clients
    Init(InitArgs),
    /// Let an MCP client start `toolwright serve`
    Install(InstallArgs),
    /// Call one tool and print its result
    Call(CallArgs),
    /// Serve all tools to agents over MCP, on standard streams or HTTP
    Serve(ServeArgs),
    /// Validate a JSON or YAML instance against a JSON Schema
    Validate(ValidateArgs),
    /// Run the examples of definitions as tests
    Test(TestArgs),
    /// Run one function of a definition, to try it
    Eval(EvalArgs),
    /// Check how well this system can sandbox the JavaScript of definitions
    Doctor,
    /// Print a web page as Markdown
    Md(MdArgs),
    /// Print the JSON Schema of `toolwright.toml`, for editors
    Schema,
    /// Print the completions for a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program or of one command
    Man {
        /// The command to document
        command: Option<String>,
    },
}

impl CliCommand {
    /// The variables that are passed on to what the command starts.
    pub(crate) fn environment(&self) -> &[String] {
        match self {
            CliCommand::Show(args) => &args.selected.environment.env,
            CliCommand::List(args) => &args.selected.environment.env,
            CliCommand::Check(args) => &args.selected.environment.env,
            CliCommand::Cost(args) => &args.selected.environment.env,
            CliCommand::Convert(args) => &args.selected.environment.env,
            CliCommand::Test(args) => &args.selected.environment.env,
            CliCommand::Diff(args) => &args.environment.env,
            CliCommand::Call(args) => &args.source.environment.env,
            CliCommand::Serve(args) => &args.source.environment.env,
            _ => &[],
        }
    }
}

/// The definitions that a command reads: the named ones, or else those that `sources::resolve`
/// finds.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SelectedSources {
    /// Files, folders, `-` for standard input, URLs of MCP servers, `mcpServers` files, `*-tool`
    /// programs, configurations. Default: the sources of `toolwright.toml`, else the servers of
    /// `.mcp.json` or `.vscode/mcp.json`
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Command line of an MCP server to start, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Use this configuration. Default: `toolwright.toml` in this folder or the nearest one above
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,
}

/// What programs and servers get from the environment of this one.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct EnvironmentArgs {
    /// Pass this environment variable on to programs and servers, with the value that it has here
    /// or with this one; can be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
}

impl SelectedSources {
    /// Whether the command line names what to read.
    pub(crate) fn are_named(&self) -> bool {
        !self.sources.is_empty() || !self.command.is_empty() || self.config.is_some()
    }

    /// The configuration that is named: by its option, or as a source.
    pub(crate) fn named_configuration(&self) -> Option<&Path> {
        let mut sources = self.sources.iter().map(Path::new);
        self.config.as_deref().or_else(|| sources.find(|path| Config::is_named(path)))
    }
}

/// How definitions are read, wherever they come from.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReadingArgs {
    /// Read every file as this format instead of detecting it
    #[arg(long, value_name = "ID", value_parser = format_names())]
    pub(crate) format: Option<String>,
    /// Report mistakes that are common in published definitions as warnings, not as errors, such as
    /// `null` for an optional field or an AIOS example without `scenario` (docs/formats.md)
    #[arg(long)]
    pub(crate) compat: bool,
}

impl ReadingArgs {
    /// The options for the workspace. `rules` is set by `check` alone: the other commands report
    /// what reading finds, and running all rules would slow them down.
    pub(crate) fn options(&self, rules: bool) -> ReadOptions {
        let format =
            self.format.as_deref().and_then(toolwright_formats::by_name).map(|format| format.id());
        ReadOptions { format, compat: self.compat, rules, ..ReadOptions::default() }
    }
}

/// The formats come from the registry of readers, so that a new format is in the help at once.
fn format_names() -> clap::builder::PossibleValuesParser {
    let value = |format: &&dyn toolwright_formats::Format| {
        clap::builder::PossibleValue::new(format.id().0).help(format.about())
    };
    toolwright_formats::FORMATS.iter().map(value).collect::<Vec<_>>().into()
}

/// The targets come from the one list of them, as the formats do.
fn target_ids() -> clap::builder::PossibleValuesParser {
    let value =
        |target: VendorTarget| clap::builder::PossibleValue::new(target.id()).help(target.about());
    VendorTarget::ALL.map(value).to_vec().into()
}

/// For commands whose standard output is something else than diagnostics.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Write diagnostics to standard error in this format
    #[arg(long, value_enum, default_value_t = DiagnosticFormat::Full, value_name = "FORMAT")]
    pub(crate) output_format: DiagnosticFormat,
}

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiagnosticFormat {
    /// The lines of the file, with the mistake underlined
    Full,
    /// One line per diagnostic
    Concise,
    /// One JSON object per line
    Json,
}

/// `toolwright show`, in `show.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Print the record as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Show only the tool with this id, as `list` prints it, or with this name; can be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) tool: Vec<String>,
}

/// `toolwright list`, in `list.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// List only the tool with this id or name; can be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) tool: Vec<String>,
    /// List only tools with this tag; can be repeated, and then a tool needs all of them
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// List only tools that need this capability, such as `dom:read`; can be repeated
    #[arg(long, value_name = "CAPABILITY")]
    pub(crate) capability: Vec<String>,
    /// List only deprecated tools
    #[arg(long)]
    pub(crate) deprecated: bool,
    /// List only the newest version of each tool
    #[arg(long)]
    pub(crate) newest: bool,
    /// Print the list as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print neither where the sources were found nor how many problems the definitions have
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// `toolwright check`, in `check.rs`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// Start no server and no program, and connect to none: check files and settings alone
    #[arg(long)]
    pub(crate) no_start: bool,
    /// Apply the fixes that do not change the meaning of a definition
    #[arg(long)]
    pub(crate) fix: bool,
    /// Apply all fixes, also those that may change the meaning
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,
    /// Show what fixes would change, without changing any file
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print the notes, which are otherwise only counted
    #[arg(long)]
    pub(crate) notes: bool,
    /// Exit with status 1 if there is a finding of at least this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "LEVEL")]
    pub(crate) fail_on: FailOn,
    /// Report what these APIs reject or ignore; can be repeated. Default: `[check] targets` of
    /// `toolwright.toml`
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = target_ids())]
    pub(crate) target: Vec<String>,
    /// Report only these codes, with commas between them
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// Report all codes except these, with commas between them
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Report only findings that this file does not list; `--write-baseline` writes it
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all findings to this file, as the known ones for `--baseline`, and report none
    #[arg(long, value_name = "FILE", conflicts_with = "diff")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Write findings to standard output in this format
    #[arg(long, value_enum, default_value_t = CheckFormat::Full, value_name = "FORMAT")]
    pub(crate) output_format: CheckFormat,
}

/// The formats of `DiagnosticFormat`, and two for other programs. These make no sense for commands
/// whose diagnostics are a side product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people: errors first, the same warning many times as one, notes as numbers
    Full,
    /// One line per finding
    Concise,
    /// One JSON object per line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

/// The severity from which findings fail a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// An error
    Error,
    /// An error or a warning
    Warning,
    /// Any finding
    #[value(alias = "info")]
    Note,
    /// Exit with status 0, whatever is found
    Never,
}

impl FailOn {
    /// The lowest severity that fails the check; `None` if no severity does.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Note => Some(Severity::Info),
            FailOn::Never => None,
        }
    }
}

/// `toolwright cost`, in `cost.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// Print the counts as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// `toolwright diff`, in `diff/`.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// The definitions before: a file, a folder, `-` for standard input, the URL of an MCP server,
    /// an `mcpServers` file, a `*-tool` program, or `REV:PATH` of a git repository
    pub(crate) old: String,
    /// The definitions now, in the same forms
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub(crate) new: Option<String>,
    /// Command line of an MCP server to start in place of NEW, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,
    /// Exit with status 1 if the changes need a new version of this kind, or of a greater one.
    /// Default: if a declared version does not announce what changed
    #[arg(long, value_enum, value_name = "STEP")]
    pub(crate) fail_on: Option<FailOnStep>,
    /// Write the changes to standard output in this format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text, value_name = "FORMAT")]
    pub(crate) output_format: DiffFormat,
}

/// The part of a version from which changes fail a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnStep {
    /// A change that breaks callers
    Major,
    /// The same, or something new
    Minor,
    /// Any change
    Patch,
}

/// How changes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For people: a line per change
    Text,
    /// One JSON object, with the values in full
    Json,
    /// For a pull request
    Markdown,
}

/// `toolwright convert`, in `convert.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// What to write
    #[arg(long, value_name = "TARGET", value_parser = write_targets())]
    pub(crate) to: String,
    /// Write the result to this file. Default: standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Give a field that the target demands, such as `namespace=x` or `TOOL.description=…`; can be
    /// repeated
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write what was lost to standard error in this format
    #[arg(long, value_enum, default_value_t = LossFormat::Text, value_name = "FORMAT")]
    pub(crate) losses: LossFormat,
    /// Write nothing and exit with status 1 if anything is lost, or only for these effects, with
    /// commas between them: dropped, widened, narrowed, approximated, renamed, filled
    #[arg(
        long,
        value_name = "EFFECT",
        value_delimiter = ',',
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) deny_loss: Option<Vec<String>>,
    /// Leave out tools with errors instead of converting nothing
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the script that registers the tools on a web page (`--to webmcp`)
    #[arg(long)]
    pub(crate) script: bool,
    /// Also write this file: the names and steps by which a program turns calls of converted tools
    /// into calls of the original ones
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
}

/// The targets come from the registry of writers.
fn write_targets() -> clap::builder::PossibleValuesParser {
    let value =
        |target: WriteTarget| clap::builder::PossibleValue::new(target.id()).help(target.about());
    WriteTarget::all().map(value).collect::<Vec<_>>().into()
}

/// How losses are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossFormat {
    /// A line for each loss, and what shows it
    Text,
    /// One JSON object
    Json,
    /// A table for a pull request
    Markdown,
    /// Nothing: losses are not looked for, which is faster
    None,
}

/// `toolwright upgrade`, in `upgrade.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct UpgradeArgs {
    /// Files, and folders of them
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print what would change, and write nothing. This is the default
    #[arg(long, conflicts_with = "write")]
    diff: bool,
    /// Write the files
    #[arg(long)]
    pub(crate) write: bool,
    /// Read every file as this format instead of detecting it
    #[arg(long, value_name = "ID", value_parser = format_names())]
    format: Option<String>,
}

impl UpgradeArgs {
    /// The options for the workspace. `compat` is not needed: errors do not keep a file from being
    /// upgraded, and the values that it tolerates are replaced.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadingArgs { format: self.format.clone(), compat: false }.options(true)
    }
}

/// `toolwright formats`, in `formats.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct FormatsArgs {
    /// Show these targets of `convert` only. Default: all, as a list
    #[arg(value_name = "TARGET", value_parser = write_targets())]
    pub(crate) targets: Vec<String>,
    /// Print everything as JSON, with the sources
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown, as in docs/format-support.md
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// `toolwright new`, in `new/`.
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The format to write
    #[arg(value_enum)]
    pub(crate) format: NewFormat,
    /// The name of the tool, or of the manifest
    pub(crate) name: String,
    /// Write the definition to this file, and what it needs beside it. Default: NAME with the
    /// ending of the format
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What `new` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewFormat {
    /// A BTCP tool, and its body in JavaScript
    BtcpTool,
    /// A BTCP manifest with one tool, and its body in JavaScript
    Btcp,
    /// An AIOS tool, version 2.0, and its script in Python
    Aios,
    /// A program that prints what it is for `--schema`
    Ikigai,
    /// An MCP tool list
    Mcp,
}

/// `toolwright explain`, in `explain.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The code to explain, such as INVALID_SCHEMA. Default: list all codes
    pub(crate) code: Option<String>,
    /// Print Markdown, as in docs/codes
    #[arg(long)]
    pub(crate) markdown: bool,
}

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
    pub(crate) environment: EnvironmentArgs,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

impl SourceArgs {
    /// The options for the catalog, which runs no rules.
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

/// `toolwright validate`, in `validate.rs`. Either two files, or `--batch`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "toolwright validate [OPTIONS] SCHEMA INSTANCE\n       \
                      toolwright validate --batch < LINES")]
pub(crate) struct ValidateArgs {
    /// The JSON Schema, a JSON or YAML file, or `-` for standard input
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) schema: Option<PathBuf>,
    /// The value to validate, a JSON or YAML file, or `-` for standard input
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) instance: Option<PathBuf>,
    /// Read lines `{"schema":…,"instance":…}` from standard input and write one result line each
    #[arg(long)]
    pub(crate) batch: bool,
    /// Check `format`, `contentEncoding` and `contentMediaType`. Default: treat them as annotations
    #[arg(long)]
    pub(crate) assert_formats: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// `toolwright md`, in `md.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct MdArgs {
    /// The page: a URL, an HTML file, or `-` for standard input
    #[arg(value_name = "FILE|URL")]
    pub(crate) page: String,
    /// Also fetch from addresses that are not on the public internet
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Let the proxy decide which addresses may be fetched
    #[arg(long)]
    pub(crate) trust_proxy: bool,
}

/// Other names of the targets, by their products and makers.
const PRODUCTS: [(&str, &str); 8] = [
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("azure", "openai"),
    ("google", "gemini"),
    ("vertex", "gemini"),
    ("aws", "bedrock"),
    ("amazon", "bedrock"),
];

/// The error with tips that help here. `clap` advises to put an unknown option behind `--`, where
/// most commands expect a server to start, and does not know who makes what.
pub(crate) fn with_tips(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    let suggested = match (error.get(ContextKind::InvalidValue), error.get(ContextKind::ValidValue))
    {
        (Some(ContextValue::String(word)), Some(ContextValue::Strings(valid))) => {
            let known = PRODUCTS.iter().find(|(product, _)| word.eq_ignore_ascii_case(product));
            known.map(|(_, id)| *id).filter(|id| valid.iter().any(|valid| valid == id))
        }
        _ => None,
    };
    if let Some(id) = suggested {
        error.insert(ContextKind::SuggestedValue, ContextValue::String(id.to_owned()));
    }
    error
}
