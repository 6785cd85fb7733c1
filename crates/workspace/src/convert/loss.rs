//! A loss: one part of the source that the converted document does not have, or has in another
//! form. And the list of them, which compares the parts of two records.
//!
//! ```text
//! schemas::rewrite ─ add_rewrite, add_compared ─┐
//! record before, record read back ─ compare ────┼─▶ LossList ─ into_sorted ─▶ Vec<Loss>
//! numbers, repeated tools ─ add ────────────────┘
//! ```
//!
//! Tools are named by their place in the conversion, `n`. A tool with errors may have been left
//! out, so its place in the source is `numbers[n]`: only `place` needs that.

use std::collections::{HashMap, HashSet};

use toolwright_formats::{Reading, WriteTarget};
use toolwright_model::Json;
use toolwright_schema::{SchemaComparison, VendorTarget, Verdict, compare};
use toolwright_source::{DocumentPath, RecordPath};

use super::record_parts::{RecordPart, RecordParts};

/// What became of a part of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LossEffect {
    /// It is not in the output.
    Dropped,
    /// The schema accepts more values.
    Widened,
    /// The schema accepts fewer values.
    Narrowed,
    /// It is in the output as something else; of a schema: it accepts other values.
    Approximated,
    /// It has another name, which the table of the conversion turns back.
    Renamed,
    /// The target demands it, the source does not have it, and a neutral value was written.
    Filled,
    /// The output has the start of it.
    Cut,
    /// The schema differs, and neither a proof nor a value shows what that means.
    NotShown,
}

impl LossEffect {
    /// All effects, in the order of reports.
    pub const ALL: [LossEffect; 8] = [
        LossEffect::Dropped,
        LossEffect::Widened,
        LossEffect::Narrowed,
        LossEffect::Approximated,
        LossEffect::Renamed,
        LossEffect::Filled,
        LossEffect::Cut,
        LossEffect::NotShown,
    ];

    /// The word in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            LossEffect::Dropped => "dropped",
            LossEffect::Widened => "widened",
            LossEffect::Narrowed => "narrowed",
            LossEffect::Approximated => "approximated",
            LossEffect::Renamed => "renamed",
            LossEffect::Filled => "filled",
            LossEffect::Cut => "cut",
            LossEffect::NotShown => "not-shown",
        }
    }

    /// The effect with this name.
    pub fn by_name(name: &str) -> Option<LossEffect> {
        LossEffect::ALL.into_iter().find(|effect| effect.name() == name)
    }
}

/// An instance that shows what became of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The instance.
    pub value: Json,
    /// Whether the source accepts it; the target does the opposite.
    pub source_accepts: bool,
    /// It is a call in the form of the target, which cannot be restored.
    pub is_target_form: bool,
}

/// A part of the source that the output does not have as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The id of the tool; `None` for what concerns the whole document.
    pub tool: Option<String>,
    /// Where it is in the source.
    pub at: DocumentPath,
    /// The part of the record, such as `annotations/title`.
    pub part: String,
    /// What became of it.
    pub effect: LossEffect,
    /// Why.
    pub reason: String,
    /// The document that states the requirement of the target; only for schemas.
    pub source: Option<&'static str>,
    /// Instances that show it, for schemas: one for each direction.
    pub witnesses: Vec<Witness>,
    /// Whether the target enforces what is left of the schema; `None` for other parts.
    pub vendor_enforces: Option<bool>,
    /// Whether Toolwright still enforces the part when it runs the source; `None` for parts that
    /// nobody enforces.
    pub runner_enforces: Option<bool>,
    /// The value in the source and in the output, where both are short.
    pub values: Option<(Json, Option<Json>)>,
}

/// A part of a schema that has another form in the output and means the same: the same values
/// match, or the same calls once they are restored. Or an example of such a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactRewrite {
    /// The id of the tool.
    pub tool: String,
    /// Where it is in the source.
    pub at: DocumentPath,
    /// The part of the record, such as `inputSchema/properties/a/const`.
    pub part: String,
    /// The keyword: the one that is there, or one that the schema there lacked.
    pub keyword: String,
    /// Why.
    pub reason: &'static str,
    /// Who states that the target wants it so.
    pub source: &'static str,
    /// Whether calls have another form, too, and are restored.
    pub restored: bool,
}

/// The losses of one conversion.
pub(super) struct LossList<'r> {
    reading: &'r Reading,
    /// The numbers that the converted tools have in the record of the source.
    numbers: &'r [usize],
    target: WriteTarget,
    /// The ids of the converted tools.
    ids: Vec<String>,
    /// Each with the number by which it is sorted: 0 for the whole document, or the number of the
    /// tool and one.
    list: Vec<(usize, Loss)>,
    rewrites: Vec<ExactRewrite>,
    /// The tools whose output schema has another form that means the same.
    /// They are not compared again as parts of the record.
    exact_outputs: HashSet<usize>,
}

impl<'r> LossList<'r> {
    /// An empty list. `numbers` lead from the tools of the conversion to those of the source, some
    /// of which may have been left out.
    pub(super) fn new(
        reading: &'r Reading,
        numbers: &'r [usize],
        ids: Vec<String>,
        target: WriteTarget,
    ) -> LossList<'r> {
        LossList {
            reading,
            numbers,
            target,
            ids,
            list: Vec::new(),
            rewrites: Vec::new(),
            exact_outputs: HashSet::new(),
        }
    }

    /// The ids of the converted tools, which no loss needs any more.
    pub(super) fn take_ids(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ids)
    }

    /// The format that is written.
    pub(super) fn target(&self) -> WriteTarget {
        self.target
    }

    /// The losses, by tool in the order of the source; those of the whole document come first. And
    /// the rewrites that lose nothing.
    pub(super) fn into_sorted(mut self) -> (Vec<Loss>, Vec<ExactRewrite>) {
        self.list.sort_by_key(|(tool, _)| *tool);
        (self.list.into_iter().map(|(_, loss)| loss).collect(), self.rewrites)
    }

    /// Whether a loss tells already that the place is gone.
    pub(super) fn has_dropped(&self, at: &DocumentPath) -> bool {
        self.list.iter().any(|(_, loss)| {
            // A part that the source does not write has the place of what is around it.
            let is_own_place = loss.at.as_str().rsplit('/').next() == loss.part.rsplit('/').next();
            loss.effect == LossEffect::Dropped && is_own_place && at.below(&loss.at).is_some()
        })
    }

    /// Adds a change of a tool that loses nothing; its tool and place are filled in.
    pub(super) fn add_rewrite(&mut self, n: usize, rewrite: ExactRewrite) {
        let at = self.place(Some(n), &format!("/{}", rewrite.part), false);
        if rewrite.part == "outputSchema" {
            self.exact_outputs.insert(n);
        }
        self.rewrites.push(ExactRewrite { tool: self.ids[n].clone(), at, ..rewrite });
    }

    /// The place of a part in the source. `path` is below the tool, or below the toolset.
    fn place(&self, tool: Option<usize>, path: &str, is_rest: bool) -> DocumentPath {
        let origin = &self.reading.origin;
        let base = match tool {
            Some(n) => RecordPath::root().child("tools").child(self.numbers[n]),
            None => RecordPath::root(),
        };
        match (tool, is_rest) {
            // Fields of one format are kept by their pointers: from the tool's own object, or from
            // the root of the document.
            (Some(_), true) => {
                let text = format!("{}{path}", origin.document_path(&base).as_str());
                DocumentPath::parse(&text).unwrap_or_default()
            }
            (None, true) => DocumentPath::parse(path).unwrap_or_default(),
            (_, false) => {
                let text = format!("{}{path}", base.as_str());
                RecordPath::parse(&text).map(|path| origin.document_path(&path)).unwrap_or_default()
            }
        }
    }

    /// Adds a loss.
    pub(super) fn add(
        &mut self,
        tool: Option<usize>,
        path: &str,
        part: &str,
        effect: LossEffect,
        reason: String,
    ) {
        self.add_at(tool, self.place(tool, path, false), part, effect, reason);
    }

    /// Adds a loss at a place of the source.
    pub(super) fn add_at(
        &mut self,
        tool: Option<usize>,
        at: DocumentPath,
        part: &str,
        effect: LossEffect,
        reason: String,
    ) {
        let is_schema = part.starts_with("inputSchema");
        let loss = Loss {
            tool: tool.map(|n| self.ids[n].clone()),
            at,
            part: part.to_owned(),
            effect,
            reason,
            source: None,
            witnesses: Vec::new(),
            vendor_enforces: is_schema.then(|| self.vendor_enforces()),
            runner_enforces: runner_enforces(part),
            values: None,
        };
        self.list.push((tool.map_or(0, |n| n + 1), loss));
    }

    /// Whether the target enforces the schemas that it gets.
    fn vendor_enforces(&self) -> bool {
        // Gemini does in one of its modes, which the request chooses.
        matches!(
            self.target.vendor(),
            Some(
                VendorTarget::OpenAiStrict
                    | VendorTarget::OpenAiResponsesStrict
                    | VendorTarget::AnthropicStrict
            )
        )
    }

    /// Adds a loss of a schema, whose effect a comparison of both schemas shows.
    pub(super) fn add_compared(
        &mut self,
        tool: Option<usize>,
        path: &str,
        part: &str,
        compared: &SchemaComparison,
        reason: String,
    ) {
        self.add(tool, path, part, effect_of(compared), reason);
        let witness = |verdict: &Verdict, source_accepts| {
            let value = verdict.witness()?.clone();
            Some(Witness { value, source_accepts, is_target_form: false })
        };
        let witnesses = [witness(&compared.wider, false), witness(&compared.narrower, true)];
        if let Some(loss) = self.last() {
            loss.witnesses = witnesses.into_iter().flatten().collect();
        }
    }

    /// The last loss that was added, to complete it.
    pub(super) fn last(&mut self) -> Option<&mut Loss> {
        self.list.last_mut().map(|(_, loss)| loss)
    }

    /// The values of the last loss.
    pub(super) fn set_values(&mut self, before: Json, after: Option<Json>) {
        if let Some(loss) = self.last() {
            loss.values = Some((before, after));
        }
    }

    /// A tool that cannot be read back.
    pub(super) fn tool_is_gone(&mut self, n: usize) {
        self.add(Some(n), "", "tool", LossEffect::Dropped, "it cannot be read back".to_owned());
    }

    /// Adds a loss for every part that differs. `tool` is the number of the tool.
    ///
    /// A part of `before` that `after` lacks or has with another value is lost; a part that only
    /// `after` has was filled in. Paths match them, and each part of `after` is matched once.
    ///
    /// ```text
    /// before      after       result
    /// a: 1        a: 1        nothing
    /// a: 1        a: 2        Approximated; Cut for a text that is the start of it
    /// a: 1        –           Dropped, with the reason that fits the target
    /// –           a: 1        Filled: the target demands it
    /// ```
    ///
    /// Output schemas are compared by what they accept. Values are kept for the report if both are
    /// short.
    pub(super) fn compare(
        &mut self,
        tool: Option<usize>,
        before: &RecordParts,
        after: &RecordParts,
    ) {
        let mut left: HashMap<(String, bool), &RecordPart> =
            after.iter().map(|part| (comparable_path(part), part)).collect();
        let describes_arguments = self.target.vendor() == Some(VendorTarget::Ollama);
        let has_output = |parts: &RecordParts| parts.iter().any(|it| it.path == "/outputSchema");
        let output = (has_output(before), has_output(after));
        for part in before {
            let found = left.remove(&comparable_path(part));
            if found.is_some_and(|found| found.value == part.value) {
                continue;
            }
            // Ollama's description of a tool may end with that of its arguments.
            if let (Some(found), "/description", Some(_)) = (found, part.path.as_str(), tool)
                && describes_arguments
                && let (Json::String(before), Json::String(after)) = (&part.value, &found.value)
                && after.starts_with(before.trim_end())
            {
                continue;
            }
            if let (Some(found), "/outputSchema") = (found, part.path.as_str()) {
                if tool.is_some_and(|n| self.exact_outputs.contains(&n)) {
                    continue;
                }
                let compared = compare(&part.value, &found.value);
                if !compared.is_equal() {
                    let reason = format!("{} writes the schema in another form", self.target.id());
                    self.add_compared(tool, "/outputSchema", "outputSchema", &compared, reason);
                }
                continue;
            }
            let at = self.place(tool, &part.path, part.is_rest);
            let name = part.path.trim_start_matches('/').to_owned();
            let (effect, reason) = match found {
                Some(found) => changed(part, found),
                None if part.is_rest && self.reading.format.0 == "openapi" => {
                    openapi_part(&name, output)
                }
                None if name == "outputSchema" && is_mcp(self.target) => {
                    (LossEffect::Dropped, "MCP demands that a result is an object".to_owned())
                }
                None if part.is_rest && self.reading.format == self.target.format() => {
                    (LossEffect::Dropped, format!("{} is written without it", self.target.id()))
                }
                None if part.is_rest => {
                    (LossEffect::Dropped, format!("only `{}` has this field", self.reading.format))
                }
                None => (LossEffect::Dropped, format!("{} has no place for it", self.target.id())),
            };
            self.add_at(tool, at, &name, effect, reason);
            if is_shown(part) {
                self.set_values(part.value.clone(), found.map(|found| found.value.clone()));
            }
        }
        // In the order of the output, not of the map.
        let filled: Vec<&RecordPart> =
            after.iter().filter(|part| left.contains_key(&comparable_path(part))).collect();
        for part in filled {
            if describes_arguments && tool.is_some() && part.path == "/description" {
                continue;
            }
            let at = self.place(tool, "", false);
            let name = part.path.trim_start_matches('/').to_owned();
            let reason = format!("{} demands it", self.target.id());
            self.add_at(tool, at, &name, LossEffect::Filled, reason);
            if is_shown(part) {
                self.set_values(Json::Null, Some(part.value.clone()));
            }
        }
    }
}

/// The effect that a comparison of two schemas shows.
///
/// Only for schemas. `NotShown` if neither direction is known.
fn effect_of(compared: &SchemaComparison) -> LossEffect {
    match (&compared.wider, &compared.narrower) {
        (Verdict::Yes(_), Verdict::Yes(_)) => LossEffect::Approximated,
        // One direction is shown; the other one is excluded or open.
        (Verdict::Yes(_), _) => LossEffect::Widened,
        (_, Verdict::Yes(_)) => LossEffect::Narrowed,
        // The same values match: what is gone is a text, or it had no effect.
        (Verdict::No, Verdict::No) => LossEffect::Dropped,
        _ => LossEffect::NotShown,
    }
}

/// What became of a part of an operation that only OpenAPI has. `output` tells whether the tool
/// has an output schema in the source and in the output.
///
/// OpenAPI describes a request and not a tool, so most of an operation has become something else:
/// the parameters are in the input schema, one response is the output schema.
fn openapi_part(name: &str, output: (bool, bool)) -> (LossEffect, String) {
    let (effect, reason) = match name.rsplit('/').next().unwrap_or_default() {
        "operationId" => (LossEffect::Renamed, "it cannot be the name of a tool"),
        "parameters" | "requestBody" => (
            LossEffect::Approximated,
            "the schemas are in the input schema; only `openapi` states where arguments are sent",
        ),
        "responses" => match output {
            (_, true) => (
                LossEffect::Approximated,
                "the schema of one of them is the output schema; only `openapi` has the others",
            ),
            (true, false) => {
                (LossEffect::Dropped, "the target does not have the schema of the result")
            }
            (false, false) => (LossEffect::Dropped, "none of them has a schema for a result"),
        },
        _ => (LossEffect::Dropped, "only `openapi` has this field"),
    };
    (effect, reason.to_owned())
}

fn is_mcp(target: WriteTarget) -> bool {
    matches!(target, WriteTarget::Mcp | WriteTarget::McpPlain)
}

/// The key by which parts of the source and of the target are matched. Fields that only one format
/// has are matched by name: the object around them differs between the shapes of one vendor.
///
/// `/function/strict` and `/strict` are the same field of OpenAI, in two shapes.
fn comparable_path(part: &RecordPart) -> (String, bool) {
    let path = match part.is_rest {
        true => ["/function", "/toolSpec"]
            .iter()
            .find_map(|around| part.path.strip_prefix(around).filter(|rest| rest.starts_with('/')))
            .unwrap_or(&part.path),
        false => &part.path,
    };
    (path.to_owned(), part.is_rest)
}

/// What became of a part that has another value now.
///
/// The target cuts a long text at the end; everything else that differs is another form.
fn changed(before: &RecordPart, after: &RecordPart) -> (LossEffect, String) {
    match (&before.value, &after.value) {
        (Json::String(before), Json::String(after))
            if before.starts_with(after.as_str()) && !after.is_empty() =>
        {
            let (kept, all) = (after.chars().count(), before.chars().count());
            (LossEffect::Cut, format!("the target allows {kept} of its {all} characters"))
        }
        _ => (LossEffect::Approximated, "the target writes it in another form".to_owned()),
    }
}

/// Whether the value of a part is shown in a report.
///
/// Long ones are not: 200 bytes of JSON are about two lines. How a server is reached never is,
/// since its variables and arguments may hold secrets.
fn is_shown(part: &RecordPart) -> bool {
    !matches!(part.path.as_str(), "/server" | "/binding") && part.value.to_string().len() <= 200
}

/// Whether Toolwright enforces a part when it runs the source, whatever the target does.
///
/// `Some(true)` for what the runner checks on every call, `None` for what nobody can enforce, such
/// as a title.
fn runner_enforces(part: &str) -> Option<bool> {
    let first = part.split('/').next().unwrap_or_default();
    let second = part.split('/').nth(1).unwrap_or_default();
    match (first, second) {
        ("inputSchema" | "outputSchema" | "limits" | "capabilities" | "declares", _) => Some(true),
        ("knowledge", "validators" | "processors" | "helpers") => Some(true),
        _ => None,
    }
}
