//! Where definitions come from, and all that can be said about them without running anything.
//!
//! ```text
//! paths, overlay, toolwright.toml, servers files
//!    │ files, config, servers_file, variables, plan
//!    ▼
//! LoadResult ─ check ─▶ rules between documents ─ silence ─ fix ─▶ CheckReport
//!    │ load                                                        (diagnostics, repaired files)
//!    ├─ record ───▶ the canonical record as JSON
//!    ├─ examples ─▶ every example as a test case
//!    ├─ convert ──▶ another format, and what it cannot hold
//!    │                 └─ vendor_calls: calls of it, restored, and their results
//!    ├─ upgrade ──▶ the same in the newest version of its format
//!    ├─ cost ─────▶ the tokens of every tool
//!    └─ diff ─────▶ what changed since other definitions, and the version that it demands
//! ```
//!
//! Nothing here starts a program, opens a connection, waits or runs JavaScript: what a server lists
//! is read by `catalog` and comes in as a document like any other. Nothing reads the environment
//! either: the caller passes a function that looks variables up. So a language server, a web page
//! or a test does all that `toolwright check` does with one call:
//!
//! ```
//! use std::path::PathBuf;
//! use std::sync::Arc;
//! use toolwright_script::InProcessAnalyzer;
//! use toolwright_workspace::{CheckOptions, Workspace};
//!
//! let mut workspace = Workspace::new(Arc::new(InProcessAnalyzer));
//! // An editor's unsaved text stands in for the file.
//! workspace.overlay.set("clock.json", r#"{"name": "now", "inputSchema": {"type": "objekt"}}"#);
//! let report = workspace.check(&[PathBuf::from("clock.json")], &CheckOptions::default());
//! let errors: Vec<&str> = report.errors().map(|error| error.code.name).collect();
//! assert_eq!(errors, ["INVALID_SCHEMA"]);
//! ```

mod baseline;
mod check;
mod client_edit;
mod client_files;
mod client_servers;
pub mod code_files;
mod code_words;
pub mod codes;
mod config;
pub mod content_hash;
mod convert;
mod cost;
pub mod diff;
pub mod examples;
mod exposed_names;
mod files;
mod fix;
mod ignore_list;
mod load;
mod lock_file;
pub mod pinned_parts;
mod plan;
pub mod record;
mod script_files;
mod selection;
mod server_rules;
mod servers_file;
mod settings_fix;
mod text_forms;
mod token_count;
mod tool_places;
mod upgrade;
mod variables;
pub mod vendor_calls;

use std::path::PathBuf;
use std::sync::Arc;

use toolwright_script::ScriptAnalyzer;

pub use baseline::{Baseline, write as write_baseline};
pub use check::{CheckOptions, CheckReport, Coverage, DefinitionAuthors, find_suspicious_texts};
pub use client_edit::{ClientEditError, ClientText, entry_diff};
pub use client_files::{CLIENTS, Client, ClientFile, ClientFolders};
pub use client_servers::{ClientConfig, collect_servers};
pub use config::{
    AgentConfig, AnnotatedNeed, AuditSettings, BUILTIN_TOOLSETS, BrowserConfig, CheckSettings,
    Config, ConfiguredGrant, Levels, PinMode, PolicyRule, PolicySettings, PolicySubjects,
    RecordedArguments, RuleAction, ServeSettings, SourceConfig, SourceKind, TrustSettings,
    config_schema, parse_grant_origin, parse_grantable,
};
pub use convert::{
    Conversion, ConvertError, ConvertOptions, ConvertedTool, ExactRewrite, FieldSetting,
    FormatSupport, Loss, LossEffect, PartSupport, SettingError, SupportRow, SupportSubject,
    Witness, convert, convert_together, format_authority, format_support,
};
pub use cost::{CostReport, Saving, SavingKind, SourceCost, TokenLimits, ToolCost};
pub use exposed_names::ExposedNames;
pub use files::{
    LoadError, Overlay, display_name, io_reason, is_stdin, read as read_file, replace_file,
    special_file,
};
pub use fix::{FixMode, FixReport};
pub use ignore_list::{IgnoreEntry, IgnoreList, fits as fits_glob};
pub use load::{COMPAT_HELP, LoadResult, LoadedDocument, ReadOptions, in_parallel};
pub use lock_file::{LOCK_NAME, LockEntry, LockError, LockFile, LockKey, LockSection};
pub use pinned_parts::{PinKind, PinList, PinnedPart};
pub use plan::{SourceArgument, SourcePlan, SourceSpec, SourceTarget, UnstartedServer, is_program};
pub use script_files::{is_script, worker_bodies};
pub use selection::{CodeSelection, UnknownCode};
pub use server_rules::{masked_connection, started_path};
pub use servers_file::{NamedServer, is_servers_file, read_servers};
pub use settings_fix::fix_settings;
pub use tool_places::fill_in_tools;
/// A part of [`ReadOptions`].
pub use toolwright_check::RuleScope;
pub use upgrade::{RefusedStep, Upgrade};
pub use variables::{ExpandError, VariableScope, Variables, expand, workspace_of};

/// Reads and checks definitions. Cheap to make; holds what reading needs beside the files.
pub struct Workspace {
    /// Texts that stand in place of files.
    pub overlay: Overlay,
    /// The file that keeps counts of tokens from one run to the next; `None` keeps none.
    pub token_cache: Option<PathBuf>,
    /// Finds facts about JavaScript. The caller supplies it, because where untrusted code is parsed
    /// is the caller's decision.
    analyzer: Arc<dyn ScriptAnalyzer>,
}

impl Workspace {
    /// A workspace without unsaved texts.
    pub fn new(analyzer: Arc<dyn ScriptAnalyzer>) -> Workspace {
        Workspace { overlay: Overlay::default(), token_cache: None, analyzer }
    }
}
