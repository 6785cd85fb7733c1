//! `toolwright md`: a page as Markdown, from the network under the guards of the web tools, or from
//! a file.

use std::io::Read;

use anyhow::Context;
use toolwright_web::{FetchOptions, MarkdownOptions, decode, fetch, markdown};

use crate::args::MdArgs;
use crate::environment::variable;
use crate::output::{self, Exit};

pub(crate) fn run(args: &MdArgs) -> anyhow::Result<Exit> {
    let text = if is_url(&args.page) { from_network(args)? } else { from_file(&args.page)? };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    output::print_raw(&(text + end))?;
    Ok(Exit::Clean)
}

fn is_url(page: &str) -> bool {
    let scheme = page.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

fn from_network(args: &MdArgs) -> anyhow::Result<String> {
    let mut options = FetchOptions::from_variables(&variable);
    options.allow_private |= args.allow_private;
    options.trust_proxy |= args.trust_proxy;
    let page =
        fetch(&args.page, &options).with_context(|| format!("cannot fetch `{}`", args.page))?;
    page.into_markdown().with_context(|| format!("cannot convert `{}`", args.page))
}

fn from_file(path: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let read = match path {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.with_context(|| format!("cannot read `{path}`"))?;
    markdown(&decode(bytes), None, &MarkdownOptions::default())
        .with_context(|| format!("cannot convert `{path}`"))
}
