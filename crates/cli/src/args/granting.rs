//! The arguments of the commands about what agents may do: `grants` and `agent`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use toolwright_model::Capability;
use toolwright_workspace::{parse_grant_origin, parse_grantable};

/// `toolwright grants`, in `grants.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct GrantsArgs {
    #[command(subcommand)]
    pub(crate) action: GrantsAction,
}

/// What is done with grants.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantsAction {
    /// List what is granted: in your store, and in `[[grant]]` of the configuration
    List {
        /// Only grants to this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// How to print the grants
        #[arg(long, value_enum, default_value_t = GrantsFormat::Text, value_name = "FORMAT")]
        output_format: GrantsFormat,
        /// Use this configuration. Default: `toolwright.toml` in this folder or the nearest one
        /// above
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Allow an agent to use capabilities of a toolset, until you revoke it
    Add(GrantAddArgs),
    /// Take grants back. It holds for the next call, also of servers that are running
    Revoke {
        /// The name of the toolset, or its content hash
        #[arg(value_name = "TOOLSET", required_unless_present = "all")]
        toolset: Option<String>,
        /// The capabilities, separated by commas or spaces. Default: all of them
        #[arg(value_name = "CAPABILITY", value_delimiter = ',')]
        capabilities: Vec<String>,
        /// Only grants to this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Only grants for pages of this origin
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<String>,
        /// Revoke everything
        #[arg(long, conflicts_with_all = ["toolset", "capabilities"])]
        all: bool,
    },
}

/// `toolwright grants add`.
#[derive(Debug, clap::Args)]
pub(crate) struct GrantAddArgs {
    /// The name of the toolset (the part of ids before the colon), or the id of one of its tools
    #[arg(value_name = "TOOLSET")]
    pub(crate) toolset: String,
    /// What its tools may do, separated by commas or spaces, such as `dom:read,dom:write`
    #[arg(
        value_name = "CAPABILITY",
        required = true,
        value_delimiter = ',',
        value_parser = parse_grantable
    )]
    pub(crate) capabilities: Vec<Capability>,
    /// Who may
    #[arg(long, value_name = "AGENT", default_value = "local")]
    pub(crate) agent: String,
    /// The pages that it is for, by their origin, such as `https://example.org`; `*`: all pages.
    /// What is about pages holds on no page without it
    #[arg(long, value_name = "ORIGIN", value_parser = parse_grant_origin)]
    pub(crate) origin: Option<String>,
    /// The content of the toolset that is granted, as refusals name it. Default: what its
    /// definition holds now
    #[arg(long, value_name = "HASH")]
    pub(crate) hash: Option<String>,
    /// Grant to every toolset of this name, whatever it becomes
    #[arg(long, conflicts_with = "hash")]
    pub(crate) by_name: bool,
    /// Look for the toolset in this file or folder instead of a configuration; can be repeated
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from: Vec<PathBuf>,
    /// Use this configuration. Default: `toolwright.toml` in this folder or the nearest one above
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) config: Option<PathBuf>,
}

/// How `grants list` prints grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrantsFormat {
    /// One line per grant
    Text,
    /// One JSON object per line
    Json,
}

/// `toolwright agent`, in `agent.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) action: AgentAction,
}

/// What is done with agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentAction {
    /// Make a token for a new agent, and the `[[agent]]` for the configuration
    Add {
        /// The name of the agent in grants and records
        name: String,
        /// Write the `[[agent]]` into the configuration, after showing it
        #[arg(long)]
        write: bool,
        /// Use this configuration. Default: `toolwright.toml` in this folder or the nearest one
        /// above
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// What is granted for one run, for the commands that make calls.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct AllowArgs {
    /// Grant these capabilities to all tools in this run, separated by commas, such as
    /// `dom:read,process:spawn`
    #[arg(long, value_name = "CAPABILITIES", value_delimiter = ',', value_parser = parse_grantable)]
    pub(crate) allow: Vec<Capability>,
}
