//! The command line: parser and help come from these definitions.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use toolwright_source::Severity;
use toolwright_workspace::ReadOptions;

/// One toolchain for the tools that AI agents call.
#[derive(Debug, Parser)]
#[command(name = "toolwright", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the canonical record of every tool in files and folders
    Show(ShowArgs),
    /// List the tools in files and folders, one per line
    List(ListArgs),
    /// Check definitions: every rule, every mistake at its place, repairs on request
    Check(CheckArgs),
    /// Explain a code that a diagnostic carries, or list all codes
    Explain(ExplainArgs),
    /// Call one tool and print its result
    Call(CallArgs),
    /// Serve all tools to agents over MCP, on standard streams or HTTP
    Serve(ServeArgs),
    /// Validate a JSON or YAML instance against a JSON Schema
    Validate(ValidateArgs),
    /// Run the examples of definitions as tests
    Test(TestArgs),
    /// Run one function of a definition, for its author
    Eval(EvalArgs),
    /// Say how well this system can lock in the JavaScript of definitions
    Doctor,
    /// Print a web page as Markdown
    Md(MdArgs),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of one command if it is named
    Man {
        /// The command
        command: Option<String>,
    },
}

/// What every command that reads definitions takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Inputs {
    /// Files, folders, `-` for standard input, URLs of MCP servers, `mcpServers` files, `*-tool`
    /// programs
    #[arg(required_unless_present = "command", value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// An MCP server to start, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What is read by the commands that take a configuration's sources where none is named.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectedSources {
    /// Files, folders, `-` for standard input, URLs of MCP servers, `mcpServers` files, `*-tool`
    /// programs. Without any, all sources of `toolwright.toml`
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// An MCP server to start, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// The configuration; otherwise `toolwright.toml` here or in the nearest folder above
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How files are read.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadingArgs {
    /// Read every file as this format instead of detecting it
    #[arg(long, value_name = "ID", value_parser = format_names())]
    format: Option<String>,
    /// Treat what definitions in the wild do all the time as warnings
    #[arg(long)]
    compat: bool,
}

impl ReadingArgs {
    pub(crate) fn options(&self, rules: bool) -> ReadOptions {
        let format =
            self.format.as_deref().and_then(toolwright_formats::by_name).map(|format| format.id());
        ReadOptions { format, compat: self.compat, rules }
    }
}

fn format_names() -> clap::builder::PossibleValuesParser {
    let value = |format: &&dyn toolwright_formats::Format| {
        clap::builder::PossibleValue::new(format.id().0).help(format.about())
    };
    toolwright_formats::FORMATS.iter().map(value).collect::<Vec<_>>().into()
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// How diagnostics are written to standard error
    #[arg(long, value_enum, default_value_t = OutputFormat::Full, value_name = "FORM")]
    pub(crate) output_format: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The lines of the file, with carets
    Full,
    /// One line each
    Concise,
    /// One JSON object per line
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Print JSON for a program instead of cards for people
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// Repair what can be repaired without changing what it means
    #[arg(long)]
    pub(crate) fix: bool,
    /// Make the other repairs, too
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,
    /// Show what repairs would change and leave the files alone
    #[arg(long)]
    pub(crate) diff: bool,
    /// The least weight that makes the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "LEVEL")]
    pub(crate) fail_on: FailOn,
    /// Report only these codes
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// Report everything but these codes
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// How findings are written to standard output
    #[arg(long, value_enum, default_value_t = CheckForm::Full, value_name = "FORM")]
    pub(crate) output_format: CheckForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckForm {
    /// The lines of the file, with carets
    Full,
    /// One line each
    Concise,
    /// One JSON object per line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors
    Error,
    /// Errors and warnings
    Warning,
    /// Anything
    Info,
    /// Nothing: exit 0 whatever is found
    Never,
}

impl FailOn {
    /// The least severity that counts; none if nothing does.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Info => Some(Severity::Info),
            FailOn::Never => None,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The code, such as INVALID_SCHEMA; without it, all codes with a line each
    pub(crate) code: Option<String>,
    /// Print the page as Markdown, as it is in docs/codes
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Where the tools of `call` and `serve` come from.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// The configuration; otherwise `toolwright.toml` here or in the nearest folder above
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "command"])]
    pub(crate) config: Option<PathBuf>,
    /// Use this source instead of a configuration; may be given several times
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from: Vec<String>,
    /// An MCP server to start and use instead of a configuration, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// How the JavaScript of definitions is run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SandboxArgs {
    /// Run no JavaScript where a layer of its jail is missing (`toolwright doctor` tells)
    #[arg(long)]
    pub(crate) require_jail: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) selected: SelectedSources,
    /// Call the tools and compare what they answer; without it, no tool runs
    #[arg(long)]
    pub(crate) run: bool,
    /// An answer must be the expected one; otherwise it may hold more
    #[arg(long)]
    pub(crate) exact: bool,
    /// Only examples with this in their name or that of their tool; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// Examples at once; by default as many as there are cores
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,
    /// How results are written to standard output
    #[arg(long, value_enum, default_value_t = TestForm::Tree, value_name = "FORM")]
    pub(crate) output_format: TestForm,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("expected a number from 1 to 1024".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestForm {
    /// Files, tools and examples, for people
    Tree,
    /// One JSON object per line, the last one the sum
    Json,
    /// JUnit XML
    Junit,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// The definition
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) which: Which,
    /// What the function is given, as JSON, or `-` to read it from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Print result, log, time and memory, or the failure, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// The function to run.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// The id of a helper
    #[arg(long, value_name = "ID")]
    pub(crate) helper: Option<String>,
    /// The id of a processor
    #[arg(long, value_name = "ID")]
    pub(crate) processor: Option<String>,
    /// The id of a validator
    #[arg(long, value_name = "ID")]
    pub(crate) validator: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(override_usage = "toolwright call [OPTIONS] ID [KEY=VALUE]... [-- COMMAND...]")]
pub(crate) struct CallArgs {
    /// The tool, as `list` names it; a bare name will do if only one tool has it
    pub(crate) id: String,
    /// An argument: `key=value`, with the value read by the tool's schema; `key:=JSON` for any JSON
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    pub(crate) pairs: Vec<String>,
    /// All arguments as one JSON object, or `-` to read it from standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Print the whole result, or the failure, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Give up after this many milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Listen for streamable HTTP on this address (such as `127.0.0.1:8080`; port 0 takes a free
    /// one) instead of serving standard streams. Beyond loopback, the variable TOOLWRIGHT_TOKEN
    /// must hold a token
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "toolwright validate [OPTIONS] SCHEMA INSTANCE\n       toolwright validate --batch < LINES"
)]
pub(crate) struct ValidateArgs {
    /// The JSON Schema, a JSON or YAML file, or `-` for standard input
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) schema: Option<PathBuf>,
    /// The value to validate, a JSON or YAML file, or `-` for standard input
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) instance: Option<PathBuf>,
    /// Read lines `{"schema":…,"instance":…}` from standard input, write a result line for each
    #[arg(long)]
    pub(crate) batch: bool,
    /// Check `format`, `contentEncoding` and `contentMediaType`, which otherwise only annotate
    #[arg(long)]
    pub(crate) assert_formats: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MdArgs {
    /// The page: a URL, an HTML file, or `-` for standard input
    #[arg(value_name = "FILE|URL")]
    pub(crate) page: String,
    /// Also fetch from addresses that are not on the public internet
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Leave it to the proxy which addresses may be asked
    #[arg(long)]
    pub(crate) trust_proxy: bool,
}
