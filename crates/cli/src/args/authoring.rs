//! The arguments of the commands that read, compare and write definitions. Some of them start
//! servers and programs to list their tools, but none calls a tool. Arguments that several commands
//! share are in the file above.

use std::path::PathBuf;

use clap::ValueEnum;
use toolwright_formats::WriteTarget;
use toolwright_source::Severity;
use toolwright_workspace::ReadOptions;

use super::{EnvironmentArgs, ReadingArgs, ReportArgs, SelectedSources, format_names, target_ids};

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

impl CheckArgs {
    /// The arguments of `check` with these sources and nothing else.
    pub(crate) fn without_options(selected: &SelectedSources) -> CheckArgs {
        CheckArgs {
            selected: selected.clone(),
            no_start: false,
            fix: false,
            unsafe_fixes: false,
            diff: false,
            notes: false,
            fail_on: FailOn::Error,
            target: Vec::new(),
            select: Vec::new(),
            ignore: Vec::new(),
            baseline: None,
            write_baseline: None,
            output_format: CheckFormat::Full,
        }
    }
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
    /// Write the result to this file. Default: standard output. Several tools for `--to ikigai`
    /// need a folder, which gets a file for each
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
    /// commas between them: dropped, widened, narrowed, approximated, renamed, filled, cut,
    /// not-shown
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
    /// Losses of one kind together, with their number, the first places and what shows them
    Text,
    /// A line for each loss, and what shows it
    Full,
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
