//! Where tools come from: the configuration `toolwright.toml`, the servers files that other clients
//! keep, and the `${VAR}` references in both.
//!
//! Nothing here reads the environment: who calls hands in a function that knows the variables.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use toolwright_catalog::{Config, SourceKind};
//! use toolwright_source::Source;
//!
//! let text = "[[source]]\nname = \"fs\"\npath = \"tools/\"\n\n[limits]\ntimeuot = 5000\n";
//! let source = Arc::new(Source::new("toolwright.toml", text.to_owned()));
//! let (config, problems) = Config::parse(&source, Path::new("/project"), &|_| None);
//! let SourceKind::Definitions { path, .. } = &config.sources[0].kind else { panic!("it has a path") };
//! assert_eq!(path, Path::new("/project/tools/"));
//! assert_eq!(problems[0].code.name, "UNKNOWN_KEY");
//! assert_eq!(problems[0].help, ["did you mean `timeout`?"]);
//! ```

mod catalog;
mod code;
pub mod codes;
mod config;
mod expand;
mod files;
mod forms;
mod gate;
mod hosted;
mod live;
mod load;
mod plan;
mod servers;
mod slot;

pub use catalog::{Catalog, Event, Listener, Planner};
pub use code::knowledge;
pub use config::{Config, LEVELS, Levels, SourceConfig, SourceKind};
pub use expand::{ExpandError, Scope, Variables, expand, workspace_of};
pub use files::{LoadError, display_name, is_stdin, parse as parse_file, read as read_file};
pub use live::{Unloaded, load_plan};
pub use load::{Load, Loaded, Reader, in_parallel, load, load_and, read, read_all, subject};
pub use plan::{Named, Plan, Spec, What};
pub use servers::{NamedServer, is_servers_file, read_servers};
