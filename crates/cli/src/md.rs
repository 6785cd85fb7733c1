//! `toolwright md`: prints a web page or an HTML file as Markdown.
//!
//! The network is reached through the same guarded client as the web tools use (no private
//! addresses, limits of size and time). Fetching and conversion are in `toolwright_web`.

use std::io::Read;

use anyhow::{Context, anyhow, bail};
use toolwright_web::{FetchError, FetchOptions, MarkdownOptions, decode, fetch, markdown};
use toolwright_workspace::{io_reason, special_file};

use crate::args::MdArgs;
use crate::environment::variable;
use crate::output::{self, ExitStatus};

/// Prints the page to stdout, with a line end after the last line.
///
/// # Errors
/// If the page cannot be fetched, read, converted or printed.
pub(crate) fn run(args: &MdArgs) -> anyhow::Result<ExitStatus> {
    let text = if is_url(&args.page) { from_network(args)? } else { from_file(&args.page)? };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    output::print_unfiltered(&(text + end))?;
    Ok(ExitStatus::Clean)
}

/// Other schemes are not URLs here: `C:` or `a://b` may be the name of a file.
fn is_url(page: &str) -> bool {
    let scheme = page.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

fn from_network(args: &MdArgs) -> anyhow::Result<String> {
    let mut options = FetchOptions::from_variables(&variable);
    // The flags only add to what the variables allow.
    options.allow_private |= args.allow_private;
    options.trust_proxy |= args.trust_proxy;
    let page = fetch(&args.page, &options).map_err(|error| {
        let help = match error {
            FetchError::Refused => "; `--allow-private` allows it",
            _ => "",
        };
        anyhow!("cannot fetch `{}`: {error}{help}", args.page)
    })?;
    page.into_markdown().with_context(|| format!("cannot convert `{}`", args.page))
}

fn from_file(path: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    if let Some(kind) = special_file(path.as_ref()) {
        bail!("cannot read `{path}`: it is {kind}");
    }
    let read = match path {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| anyhow!("cannot read `{path}`: {}", io_reason(&error)))?;
    markdown(&decode(bytes), None, &MarkdownOptions::default())
        .with_context(|| format!("cannot convert `{path}`"))
}
