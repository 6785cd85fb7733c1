//! What a conversion has lost, as text, Markdown or JSON. The text for people has one entry for
//! losses of one kind, as `check` has for findings of one code; the other forms carry every loss.
//!
//! Which losses there are is decided in `toolwright_workspace`.
//!
//! ```text
//! Conversion (losses, rewrites, names) + Reading (where the parts are in the source)
//!       └─▶ DocumentLosses ─▶ text | full | markdown | json
//! ```
//!
//! Two kinds of things are reported. A loss is something that the source says and the written
//! document does not. A rejection loses nothing: the vendor would refuse the request, because a
//! description is too long or there are too many tools. `--deny-loss` is about losses only.
//!
//! What comes from a definition or from a server passes through `visible`, since the report goes to
//! a terminal. JSON escapes it by itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use serde_json::{Value as Json, json};
use toolwright_formats::{Reading, WriteTarget};
use toolwright_schema::RequestPart;
use toolwright_source::render::{self, visible};
use toolwright_source::{DocumentPath, Source};
use toolwright_workspace::{Conversion, ExactRewrite, LoadedDocument, Loss, LossEffect, Witness};

use crate::args::LossFormat;
use crate::record_text::{markdown_code, shorten};
use crate::report::plural;

/// The longest value that the text shows. In characters. JSON has the whole value.
const MAX_SHOWN: usize = 100;

/// The report in the requested format.
///
/// `converted` has one entry for each document, in the order in which they were written. With
/// `json`, each document is one line. Documents without a reading cannot be converted, so none is
/// missing here. The limits of a request are about all documents together: a request has one list
/// of tools.
///
/// ```text
/// Text      groups of equal losses, rejections, the total
/// Full      every loss, rejections, the total
/// Markdown  a table for each document, rejections
/// Json      an object on a line for each document
/// None      nothing
/// ```
pub(crate) fn report(
    format: LossFormat,
    target: WriteTarget,
    converted: &[(&LoadedDocument, Conversion)],
) -> String {
    let reports: Vec<DocumentLosses<'_>> = converted
        .iter()
        .filter_map(|(document, conversion)| {
            let reading = document.reading.as_ref()?;
            Some(DocumentLosses { reading, conversion })
        })
        .collect();
    let beyond = target.vendor().map_or_else(Vec::new, |vendor| {
        let conversions = converted.iter().map(|(_, conversion)| conversion);
        Conversion::beyond_request_limits(conversions, vendor)
    });
    match format {
        LossFormat::Text => {
            grouped_text(&reports) + &rejections(target, &reports, &beyond) + &total(&reports)
        }
        LossFormat::Full => {
            let all = reports.iter().flat_map(|it| it.conversion.losses.iter().map(|l| it.text(l)));
            all.collect::<String>() + &rejections(target, &reports, &beyond) + &total(&reports)
        }
        LossFormat::Markdown => {
            let tables: String = reports.iter().map(|it| it.markdown(target)).collect();
            let rejections = rejections(target, &reports, &beyond);
            match rejections.is_empty() {
                true => tables,
                false => format!("{tables}\n{rejections}"),
            }
        }
        LossFormat::Json => {
            let line = |it: &DocumentLosses<'_>| render::line(&it.json(target, &beyond));
            reports.iter().map(|it| line(it) + "\n").collect()
        }
        LossFormat::None => String::new(),
    }
}

/// What all tools together have, and what one request may have: the part, the number, and the most.
type BeyondLimit = (RequestPart, usize, usize);

/// What the target rejects though nothing is lost: long descriptions, and a request that is too
/// large. One line for each description, then one for the request. Empty for targets that no vendor
/// reads.
fn rejections(
    target: WriteTarget,
    reports: &[DocumentLosses<'_>],
    beyond: &[BeyondLimit],
) -> String {
    let long = reports.iter().flat_map(|it| it.long_descriptions(target));
    let line = |(tool, count, max): (&str, usize, usize)| {
        format!(
            "{} rejects a request with {}: its description has {count} characters (at most \
             {max}); shorten it\n",
            target.id(),
            visible(tool)
        )
    };
    long.map(line).collect::<String>() + &request_line(target, beyond)
}

/// The line about a request that is too large; empty if there is none.
fn request_line(target: WriteTarget, beyond: &[BeyondLimit]) -> String {
    let parts: Vec<String> = beyond
        .iter()
        .map(|(part, count, max)| format!("{count} {} (at most {max})", part.words()))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            "{} rejects a request with all of them: {}; send fewer tools at a time\n",
            target.id(),
            parts.join(", ")
        ),
    }
}

/// One converted document, and what was lost.
///
/// Joined here, because a loss knows its path in the source, and only the reading knows the line.
struct DocumentLosses<'d> {
    reading: &'d Reading,
    conversion: &'d Conversion,
}

impl DocumentLosses<'_> {
    fn source(&self) -> &Source {
        self.reading.origin.document().source()
    }

    /// Id of the tool, characters, and the most; empty for targets that are not vendors.
    fn long_descriptions(&self, target: WriteTarget) -> Vec<(&str, usize, usize)> {
        target.vendor().map_or_else(Vec::new, |vendor| self.conversion.long_descriptions(vendor))
    }

    /// Line and column of a part of the source; `None` in the answer of a server, which is not a
    /// file that anybody could open.
    ///
    /// The nearest part that exists: a loss may be about a member that the source does not have.
    fn line_column(&self, at: &DocumentPath) -> Option<(usize, usize)> {
        let start = self.reading.origin.document().root().nearest(at).span().start;
        let at = self.source().line_column(start as usize);
        (!self.source().is_answer()).then_some((at.line, at.column))
    }

    /// `fs:read_file › title (tools.json:5:12)`, or the words of `check` for a server:
    /// `notion › create_page › properties.parent`. A server's tools are named without the
    /// namespace, since its name comes first.
    fn place(&self, loss: &Loss) -> String {
        let source = self.source().name();
        match self.line_column(&loss.at) {
            Some((line, column)) => {
                let tool = loss.tool.as_deref().map(|tool| format!("{tool} › "));
                let part = format!("{}{}", tool.unwrap_or_default(), loss.part);
                format!("{} ({}:{line}:{column})", visible(&part), visible(source))
            }
            None => {
                let namespace = self.reading.toolset.namespace.ok().map(|it| format!("{it}:"));
                let own = |id: &str| {
                    let name = namespace.as_deref().and_then(|start| id.strip_prefix(start));
                    name.unwrap_or(id).to_owned()
                };
                let path = DocumentPath::parse(&format!("/{}", loss.part)).unwrap_or_default();
                let parts = [source.to_owned()].into_iter();
                let parts = parts.chain(loss.tool.as_deref().map(own));
                let parts = parts.chain([render::path_in_words(&path)]);
                parts.map(|part| visible(&part)).collect::<Vec<_>>().join(" › ")
            }
        }
    }

    /// A loss on a line of its own, and what shows it below.
    fn text(&self, loss: &Loss) -> String {
        let (effect, reason) = (loss.effect.name(), visible(&loss.reason));
        let mut text = format!("{effect}: {}: {reason}\n", self.place(loss));
        loss.witnesses.iter().for_each(|witness| text += &witness_line(loss, witness));
        text
    }

    /// The report as an object, with all losses and all rewrites that lost nothing. Keys are part
    /// of the interface: docs/converting.md describes them. Line and column are null for what a
    /// server listed. `before` and `after` are null if a loss is not about one value.
    /// `beyondRequestLimits` has those of all documents together, then the long descriptions of
    /// this one.
    fn json(&self, target: WriteTarget, beyond: &[BeyondLimit]) -> Json {
        let conversion = self.conversion;
        let place = |at: &DocumentPath| {
            let place = self.line_column(at);
            (place.map(|(line, _)| line), place.map(|(_, column)| column))
        };
        let loss = |loss: &Loss| {
            let (line, column) = place(&loss.at);
            let witness = |witness: &Witness| {
                json!({
                    "value": witness.value,
                    "form": if witness.is_target_form { "target" } else { "source" },
                    "source": witness.source_accepts, "target": !witness.source_accepts,
                })
            };
            let (before, after) = loss.values.clone().unwrap_or((Json::Null, None));
            json!({
                "tool": loss.tool, "part": loss.part, "effect": loss.effect.name(),
                "path": loss.at.as_str(), "line": line, "column": column,
                "reason": loss.reason, "statedBy": loss.source,
                "before": before, "after": after,
                "witnesses": loss.witnesses.iter().map(witness).collect::<Vec<_>>(),
                "enforcedByTarget": loss.vendor_enforces,
                "enforcedByToolwright": loss.runner_enforces,
            })
        };
        let rewrite = |rewrite: &ExactRewrite| {
            let (line, column) = place(&rewrite.at);
            json!({
                "tool": rewrite.tool, "part": rewrite.part, "keyword": rewrite.keyword,
                "path": rewrite.at.as_str(), "line": line, "column": column,
                "reason": rewrite.reason, "statedBy": rewrite.source, "restored": rewrite.restored,
            })
        };
        let limit = |(part, count, max): &BeyondLimit| json!({ "part": part.words(), "count": count, "max": max });
        let long = self.long_descriptions(target).into_iter().map(|(tool, count, max)| {
            let part = "characters of the description";
            json!({ "part": part, "tool": tool, "count": count, "max": max })
        });
        let names: BTreeMap<&str, &str> =
            conversion.tools.iter().map(|tool| (tool.id.as_str(), tool.name.as_str())).collect();
        let source = self.source();
        json!({
            "target": target.id(), "source": source.name(),
            "file": (!source.is_answer()).then(|| source.name()),
            "losses": conversion.losses.iter().map(loss).collect::<Vec<_>>(),
            "rewrites": conversion.rewrites.iter().map(rewrite).collect::<Vec<_>>(),
            "names": names, "leftOut": conversion.left_out,
            "beyondRequestLimits": beyond.iter().map(limit).chain(long).collect::<Vec<_>>(),
        })
    }

    /// The report as a table.
    ///
    /// It has no groups: a table in a pull request is searched and not read from the top. The last
    /// column shows values by which a loss was proved; it is empty without any.
    fn markdown(&self, target: WriteTarget) -> String {
        // A cell ends at a bar and at the end of the line. What a definition says is code, so that
        // nothing in it becomes a link or HTML.
        let cell = |text: &str| visible(text).replace('|', "\\|");
        let code = |text: &str| markdown_code(&visible(text)).replace('|', "\\|");
        let mut text = format!("## Losses for `{}`\n\n", target.id());
        if self.conversion.losses.is_empty() {
            text.push_str("Nothing was lost.\n");
            return text;
        }
        text.push_str(
            "| tool | part | line | effect | reason | shown by |\n|---|---|---|---|---|---|\n",
        );
        for loss in &self.conversion.losses {
            let line = self.line_column(&loss.at).map(|(line, _)| line.to_string());
            let shown: Vec<String> = loss
                .witnesses
                .iter()
                .map(|witness| {
                    let verb = if witness.source_accepts { "refused" } else { "accepted" };
                    let value = code(&shorten(&witness.value.to_string(), MAX_SHOWN));
                    format!("{value} is {verb}")
                })
                .collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                loss.tool.as_deref().map_or_else(|| "–".to_owned(), code),
                code(&loss.part),
                line.as_deref().unwrap_or("–"),
                loss.effect.name(),
                cell(&loss.reason),
                shown.join("; ")
            );
        }
        text
    }
}

/// The line below a loss that shows what became of the schema: a value that was refused and is
/// accepted now, or the other way round.
///
/// Example: `  accepted now, and still refused by Toolwright: {"depth":0}`. The addition is left
/// out for values that the runner does not check again.
fn witness_line(loss: &Loss, witness: &Witness) -> String {
    let value = shorten(&witness.value.to_string(), MAX_SHOWN);
    let verb = if witness.source_accepts { "refused" } else { "accepted" };
    // What the target lets through still meets the source's schema when it is run.
    let is_caught = !witness.source_accepts && loss.runner_enforces == Some(true);
    let caught = match (witness.is_target_form, is_caught) {
        (true, _) => ", and refused when it is restored",
        (false, true) => ", and still refused by Toolwright",
        (false, false) => "",
    };
    format!("  {verb} now{caught}: {}\n", visible(&value))
}

/// Losses of one kind that are shown one by one; more of them become one entry, as in `check`.
/// Three lines say more than a summary of them would.
const MOST_SEPARATE: usize = 3;
/// Places that such an entry names.
const NAMED_PLACES: usize = 3;

/// The report for people: losses of one kind in all documents are one entry, with their number, the
/// first places and one instance that shows it. Losses are of one kind if effect, part and reason
/// are equal but for names and numbers. Groups keep the order of their first loss. A hint at
/// `--losses full` follows if anything was grouped.
///
/// ```text
/// widened 12 times, first in fs:read › inputSchema/limit (tools.json:9:8): …
///   accepted now: {"limit":0}
///   also in fs:list › …, fs:find › … and 9 more
/// ```
fn grouped_text(reports: &[DocumentLosses<'_>]) -> String {
    let mut groups: Vec<Vec<(&DocumentLosses<'_>, &Loss)>> = Vec::new();
    let mut known: HashMap<(LossEffect, &str, String), usize> = HashMap::new();
    for report in reports {
        for loss in &report.conversion.losses {
            let part = loss.part.split('/').next().unwrap_or_default();
            let key = (loss.effect, part, without_names(&loss.reason));
            let group = *known.entry(key).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push((report, loss)),
                None => groups.push(vec![(report, loss)]),
            }
        }
    }
    let mut text = String::new();
    for group in &groups {
        let count = group.len();
        if count <= MOST_SEPARATE {
            group.iter().for_each(|(report, loss)| text += &report.text(loss));
            continue;
        }
        let (report, first) = group[0];
        let (effect, place, reason) =
            (first.effect.name(), report.place(first), visible(&first.reason));
        let _ = writeln!(text, "{effect} {count} times, first in {place}: {reason}");
        // One of the group: the first may be without.
        let shown = group.iter().find_map(|(_, loss)| Some((loss, loss.witnesses.first()?)));
        text += &shown.map_or(String::new(), |(loss, witness)| witness_line(loss, witness));
        let also = group.iter().skip(1).take(NAMED_PLACES - 1);
        let also: Vec<String> = also.map(|(report, loss)| report.place(loss)).collect();
        let _ = writeln!(text, "  also in {} and {} more", also.join(", "), count - NAMED_PLACES);
    }
    if groups.iter().any(|group| group.len() > MOST_SEPARATE) {
        text.push_str("`--losses full` lists every loss\n");
    }
    text
}

/// A reason without what it quotes and counts, so that reasons of one kind are equal.
///
/// Splitting at backticks leaves what is outside of them in every second piece. Example:
/// "`maxItems` is 20 of at most 10" and "`minItems` is 3 of at most 2" are of one kind.
fn without_names(reason: &str) -> String {
    let outside = reason.split('`').step_by(2).collect::<Vec<_>>().join("`");
    // What a description says about a keyword is of one tool.
    let kind = outside.split(" (the description says").next().unwrap_or_default();
    kind.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The last line: `214 losses in 61 of 117 tools: 120 widened, 94 dropped`. Losses of the document
/// itself belong to no tool.
fn total(reports: &[DocumentLosses<'_>]) -> String {
    let all = || reports.iter().flat_map(|report| &report.conversion.losses);
    let tools = reports.iter().map(|report| report.conversion.tools.len()).sum();
    let with_losses: HashSet<(usize, &str)> = reports
        .iter()
        .enumerate()
        .flat_map(|(n, report)| {
            report.conversion.losses.iter().filter_map(move |loss| Some((n, loss.tool.as_deref()?)))
        })
        .collect();
    let count = |effect: LossEffect| {
        let count = all().filter(|loss| loss.effect == effect).count();
        (count > 0).then(|| format!("{count} {}", effect.name()))
    };
    let counts = LossEffect::ALL.into_iter().filter_map(count).collect::<Vec<_>>().join(", ");
    let losses = match all().count() {
        0 => return format!("{}: nothing was lost\n", plural(tools, "tool")),
        1 => "1 loss".to_owned(),
        n => format!("{n} losses"),
    };
    let places = match with_losses.len() {
        // Only the document itself has lost something.
        0 => String::new(),
        n if n >= tools => format!(" in {}", plural(tools, "tool")),
        n => format!(" in {n} of {}", plural(tools, "tool")),
    };
    format!("{losses}{places}: {counts}\n")
}
