//! The command line: parser and help come from these definitions.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

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
    /// Validate a JSON or YAML instance against a JSON Schema
    Validate(ValidateArgs),
}

/// What every command that reads definitions takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Inputs {
    /// Files, folders, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Read every file as this format instead of detecting it
    #[arg(long, value_name = "ID", value_parser = format_names())]
    pub(crate) format: Option<String>,
    /// Treat what definitions in the wild do all the time as warnings
    #[arg(long)]
    pub(crate) compat: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
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
