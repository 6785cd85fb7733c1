//! The command line of all commands. `clap` derives the parser, the help texts, the shell
//! completions and the manual pages from the types here, so they cannot disagree.
//!
//! The doc comments of commands and arguments are what users read with `--help`; those of types are
//! for readers of the code. No command is executed here: each has a file of its own, and `main.rs`
//! chooses it.
//!
//! Here are the list of commands and the arguments that several of them share. The rest is in:
//!
//! ```text
//! authoring  show, list, check, cost, diff, convert, upgrade, formats, new, explain, validate
//! running    init, install, call, serve, test, eval, browser, md
//! granting   grants, agent
//! ```

mod authoring;
mod granting;
mod running;

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand, ValueEnum};
use toolwright_schema::VendorTarget;
use toolwright_workspace::{Config, ReadOptions};

pub(crate) use authoring::{
    CheckArgs, CheckFormat, ConvertArgs, CostArgs, DiffArgs, DiffFormat, ExplainArgs, FailOn,
    FailOnStep, FormatsArgs, ListArgs, LossFormat, NewArgs, NewFormat, ShowArgs, UpgradeArgs,
    ValidateArgs,
};
pub(crate) use granting::{
    AgentAction, AgentArgs, AllowArgs, GrantAddArgs, GrantsAction, GrantsArgs, GrantsFormat,
};
pub(crate) use running::{
    AuditArgs, AuditFormat, BrowserAction, BrowserArgs, BrowserPageArgs, CallArgs, DoctorArgs,
    EvalArgs, FunctionSelector, InitArgs, InstallArgs, MdArgs, MdLinks, ServeArgs, SourceArgs,
    TestArgs, TestFormat, TrustArgs, TrustFormat,
};

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
    /// List the calls that were made: who called which tool, when, and how it ended
    Audit(AuditArgs),
    /// Show how definitions differ from the accepted ones, and accept them
    Trust(TrustArgs),
    /// List, give and take back what agents may do with tools
    Grants(GrantsArgs),
    /// Make agents, each with a token, rights and limits of its own
    Agent(AgentArgs),
    /// Validate a JSON or YAML instance against a JSON Schema
    Validate(ValidateArgs),
    /// Run the examples of definitions as tests
    Test(TestArgs),
    /// Run one function of a definition, to try it
    Eval(EvalArgs),
    /// Check the sandbox on this system, what agents could change, and the named servers
    Doctor(DoctorArgs),
    /// Open pages in the browser that tools work on: to sign in, to try, to list their tools
    Browser(BrowserArgs),
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
            CliCommand::Trust(args) => &args.selected.environment.env,
            CliCommand::Diff(args) => &args.environment.env,
            CliCommand::Call(args) => &args.source.environment.env,
            CliCommand::Serve(args) => &args.source.environment.env,
            _ => &[],
        }
    }
}

/// The definitions that a command reads: the named ones, or else those that `sources::resolve`
/// finds. `call` and `serve` have [`SourceArgs`] instead: the positionals of `call` are an id.
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
