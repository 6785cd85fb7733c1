//! `toolwright md`: prints a web page or an HTML file as Markdown, or only its article.
//!
//! The network is reached through the same guarded client as the web tools use (no private
//! addresses, limits of size and time). Fetching and conversion are in `toolwright_web`.
//!
//! ```text
//! URL ─ fetch, or the browser with --browser ─┐
//! FILE, `-` ──────────────────────────────────┴─ convert ─▶ excerpt ─▶ stdout; notes ─▶ stderr
//! ```

use std::io::Read;

use anyhow::{Context, anyhow, bail};
use toolwright_web::{
    ConvertedPage, FetchError, FetchOptions, LinkStyle, MarkdownOptions, PageContent, PageExcerpt,
    PagingUnit, convert, decode, excerpt, fetch,
};
use toolwright_workspace::{io_reason, special_file};

use crate::args::{MdArgs, MdLinks};
use crate::browser_command;
use crate::environment::variable;
use crate::output::{self, ExitStatus};

/// Prints the page to stdout, with a line end after the last line. Notes about the page go to
/// stderr.
///
/// One page, one conversion; `--offset` and `--limit` select a part of the Markdown afterwards, so
/// the offsets of two runs fit together as long as the page does not change.
///
/// # Errors
/// If the page cannot be fetched, read, converted or printed.
pub(crate) fn run(args: &MdArgs) -> anyhow::Result<ExitStatus> {
    let (page, url) = match is_url(&args.page) {
        true if args.browser => from_browser(args)?,
        true => from_network(args)?,
        false => (from_file(args)?, None),
    };
    let unit = if args.chars { PagingUnit::Characters } else { PagingUnit::Lines };
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let part =
        excerpt(&page.markdown, unit, whole(args.offset), args.limit.map_or(usize::MAX, whole));
    let front_matter = args.front_matter.then(|| front_matter(&page, url.as_deref(), &part));
    let text = front_matter.unwrap_or_default() + &part.text;
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // The conversion has dropped control characters, so no page can control the terminal.
    output::print_unfiltered(&(text + end))?;
    print_notes(args, &page);
    Ok(ExitStatus::Clean)
}

/// Other schemes are not URLs here: `C:` or `a://b` may be the name of a file.
fn is_url(page: &str) -> bool {
    let scheme = page.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// The same conversion as that of the tool `fetch`, with other defaults: whole pages and no front
/// matter.
fn markdown_options(args: &MdArgs) -> MarkdownOptions {
    MarkdownOptions {
        content: if args.main { PageContent::Main } else { PageContent::Whole },
        links: match args.links {
            MdLinks::Inline => LinkStyle::Inline,
            MdLinks::Footnotes => LinkStyle::Footnotes,
            MdLinks::None => LinkStyle::Omitted,
        },
        images: !args.no_images,
        ..MarkdownOptions::default()
    }
}

/// The page and its address after all redirects. A page of a private address is refused unless
/// `--allow-private` or its variable is given.
fn from_network(args: &MdArgs) -> anyhow::Result<(ConvertedPage, Option<String>)> {
    let mut options = FetchOptions::from_variables(&variable);
    // The flags only add to what the variables allow.
    options.allow_private |= args.allow_private;
    options.trust_proxy |= args.trust_proxy;
    if let Some(user_agent) = &args.user_agent {
        options.user_agent.clone_from(user_agent);
    }
    let page = fetch(&args.page, &options).map_err(|error| {
        let help = match error {
            FetchError::Refused => "; `--allow-private` allows it",
            _ => "",
        };
        anyhow!("cannot fetch `{}`: {error}{help}", args.page)
    })?;
    let url = page.url.to_string();
    let page = page
        .convert(&markdown_options(args))
        .with_context(|| format!("cannot convert `{}`", args.page))?;
    Ok((page, Some(url)))
}

/// The page as it is after its scripts have run, and its address. The other options of fetching,
/// such as the user agent, do not apply.
fn from_browser(args: &MdArgs) -> anyhow::Result<(ConvertedPage, Option<String>)> {
    let page = browser_command::rendered_page(&args.page, args.allow_private)?;
    let url = url::Url::parse(&page.url).ok();
    let converted = convert(page.html, url.as_ref(), &markdown_options(args))
        .with_context(|| format!("cannot convert `{}`", args.page))?;
    Ok((converted, Some(page.url)))
}

/// A file or standard input. It has no address, so relative links stay as they are.
///
/// The encoding is found by the byte order mark, the declaration in the page, or a guess. A file
/// that may never end, such as a device, is refused.
fn from_file(args: &MdArgs) -> anyhow::Result<ConvertedPage> {
    let path = args.page.as_str();
    let mut bytes = Vec::new();
    if let Some(kind) = special_file(path.as_ref()) {
        bail!("cannot read `{path}`: it is {kind}");
    }
    let read = match path {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| anyhow!("cannot read `{path}`: {}", io_reason(&error)))?;
    convert(decode(bytes), None, &markdown_options(args))
        .with_context(|| format!("cannot convert `{path}`"))
}

/// What is known about the page, as YAML between two lines of dashes. Texts are written as JSON
/// strings, which YAML reads too, whatever they contain. Also that of the tool `fetch`.
/// `total_lines` and `total_characters` are those of the whole page, and `next_offset` is where the
/// next part begins, in the unit of the request.
///
/// `hidden_elements` counts elements with text that were left out because their markup hides them
/// from readers; it is there only if there are some.
pub(crate) fn front_matter(page: &ConvertedPage, url: Option<&str>, part: &PageExcerpt) -> String {
    let metadata = &page.metadata;
    let mut lines = String::from("---\n");
    for (name, value) in [
        ("title", metadata.title.as_deref()),
        ("url", url),
        ("canonical_url", metadata.canonical_url.as_deref()),
        ("author", metadata.author.as_deref()),
        ("date", metadata.date.as_deref()),
        ("language", metadata.language.as_deref()),
        ("site_name", metadata.site_name.as_deref()),
    ] {
        if let Some(value) = value {
            lines.push_str(&format!("{name}: {}\n", serde_json::Value::from(value)));
        }
    }
    lines.push_str(&format!("total_lines: {}\n", part.total_lines));
    lines.push_str(&format!("total_characters: {}\n", part.total_characters));
    lines.push_str(&format!("more: {}\n", part.next_offset.is_some()));
    if let Some(next) = part.next_offset {
        lines.push_str(&format!("next_offset: {next}\n"));
    }
    for (name, count) in
        [("hidden_elements", page.hidden_elements), ("hidden_characters", page.hidden_characters)]
    {
        if count > 0 {
            lines.push_str(&format!("{name}: {count}\n"));
        }
    }
    lines + "---\n\n"
}

/// What a reader of the page should know and the Markdown does not show. Also for the tool `fetch`,
/// which appends them to its result.
pub(crate) fn page_notes(page: &ConvertedPage) -> impl Iterator<Item = &'static str> {
    let notes = [
        (page.needs_script, "the page has nearly no text without JavaScript, which is not run"),
        (page.is_fallback, "no article was found; this is the whole page"),
    ];
    notes.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text)
}

/// Says on stderr what the Markdown does not show.
///
/// On stderr, so that the Markdown can be piped; with `--explain`, every part that `--main` left
/// out.
fn print_notes(args: &MdArgs, page: &ConvertedPage) {
    let note = |text: &str| output::write_stderr(&format!("note: {text}\n"));
    page_notes(page).for_each(note);
    if !args.explain {
        return;
    }
    for omission in &page.omissions {
        let excerpt = toolwright_source::render::visible(&omission.excerpt);
        note(&format!("left out {} bytes ({}): {excerpt}", omission.bytes, omission.reason.text()));
    }
}
