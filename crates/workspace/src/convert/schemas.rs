//! Schemas that the target accepts, and what that costs.
//!
//! The rewrite of a schema is `schema::rewrite_if_needed`. It reports every change, if losses are
//! looked for; what a change means is decided by comparing the source schema with a copy that has
//! this one change:
//!
//! ```text
//! change at /properties/a/pattern ─▶ source without it ─ compare ─▶ widened, with an instance
//! ```
//!
//! Where that copy cannot be made, the whole result is compared, unless calls of it have another
//! form. What neither decides is "not shown". An annotation that is gone is "dropped", and a
//! parameter with another name is "renamed".
//!
//! A change that is meant to be exact is listed as a rewrite. If there are no others that change
//! the meaning, the result is compared as well, after restoring where calls have another form: a
//! difference is a loss.
//!
//! What belongs to the schema changes with it: examples become calls of the rewritten schema, and
//! where the target has no description of the parameters as a whole, the tool's one takes it in.

use serde_json::json;
use toolwright_formats::WriteTarget;
use toolwright_model::{InputSchema, Json, Object, Tool, Toolset};
use toolwright_schema::{
    ChangeAction, ChangeReport, RestoreStep, RewrittenSchema, Schema, SchemaChange,
    SchemaComparison, VendorTarget, adapt, compare, compare_restored, rewrite_if_needed,
    standard_form, unrestorable,
};
use toolwright_source::DocumentPath;

use super::loss::{ExactRewrite, LossEffect, LossList, Witness};

/// Rewrites the schemas of all tools for the target. Returns how calls of each are restored.
pub(super) fn rewrite(
    toolset: &mut Toolset<Tool>,
    target: WriteTarget,
    find_losses: bool,
    losses: &mut LossList<'_>,
) -> Vec<Vec<RestoreStep>> {
    let mut steps = Vec::new();
    for (n, tool) in toolset.tools.iter_mut().enumerate() {
        let own = match target {
            WriteTarget::Vendor(vendor) => rewrite_for_vendor(tool, vendor, find_losses, n, losses),
            WriteTarget::Mcp | WriteTarget::McpPlain | WriteTarget::WebMcp => {
                state_object_type(tool, find_losses, n, losses);
                Vec::new()
            }
            _ => Vec::new(),
        };
        steps.push(own);
    }
    steps
}

fn rewrite_for_vendor(
    tool: &mut Tool,
    vendor: VendorTarget,
    find_losses: bool,
    n: usize,
    losses: &mut LossList<'_>,
) -> Vec<RestoreStep> {
    // The result is described in a variant of OpenAPI's schemas, too.
    if vendor == VendorTarget::GeminiOpenapi
        && let Some(output) = tool.output.as_mut()
        && let Some(rewritten) = rewrite_if_needed(vendor, output, ChangeReport::Unwanted)
    {
        *output = rewritten.schema;
    }
    let InputSchema::Written(source) = &tool.input else { return Vec::new() };
    let report = if find_losses { ChangeReport::Wanted } else { ChangeReport::Unwanted };
    let Some(mut rewritten) = rewrite_if_needed(vendor, source, report) else { return Vec::new() };
    if find_losses {
        let whole = || {
            rewritten
                .steps
                .is_empty()
                .then(|| compare(source, &standard_form(vendor, &rewritten.schema)))
        };
        add_changes(source, &rewritten.changes, whole, n, losses);
        check_exact_rewrites(source, vendor, &rewritten, n, losses);
        add_unrestorable(vendor, &rewritten, n, losses);
    }
    match vendor {
        VendorTarget::Anthropic | VendorTarget::AnthropicStrict => {
            adapt_examples(tool, vendor, &rewritten, n, losses);
        }
        VendorTarget::Ollama => describe_in_tool(tool, &mut rewritten.schema, n, losses),
        _ => {}
    }
    tool.input = rewritten.schema.into();
    rewritten.steps
}

/// Brings the examples of a tool into the form of the rewritten schema, and leaves those out that
/// it refuses.
fn adapt_examples(
    tool: &mut Tool,
    vendor: VendorTarget,
    rewritten: &RewrittenSchema,
    n: usize,
    losses: &mut LossList<'_>,
) {
    // Examples of failures are not written.
    let examples = tool.details.examples.iter_mut().enumerate();
    let written = examples.filter(|(_, example)| example.error.is_none());
    let mut compiled = None;
    for (number, example) in written {
        let Some(input) = example.input.take() else { continue };
        let part = format!("examples/{number}/input");
        let schema = compiled.get_or_insert_with(|| Schema::compile(&rewritten.schema).ok());
        let is_accepted = |call: &Json| schema.as_ref().is_none_or(|it| it.is_valid(call));
        example.input = adapt(&rewritten.steps, input.clone()).ok().filter(is_accepted);
        match &example.input {
            Some(adapted) if *adapted == input => {}
            Some(_) => losses.add_rewrite(
                n,
                ExactRewrite {
                    keyword: "input".to_owned(),
                    reason: "the example has the form of the rewritten schema",
                    source: vendor.authority(),
                    restored: true,
                    part,
                    ..ExactRewrite::default()
                },
            ),
            None => {
                let reason = "the rewritten schema does not accept the example".to_owned();
                losses.add(Some(n), &format!("/{part}"), &part, LossEffect::Dropped, reason);
            }
        }
    }
}

/// Moves the description of the parameters as a whole into that of the tool: Ollama's server does
/// not read it where it is.
fn describe_in_tool(tool: &mut Tool, schema: &mut Json, n: usize, losses: &mut LossList<'_>) {
    let description = schema.as_object_mut().and_then(|it| it.shift_remove("description"));
    let Some(Json::String(text)) = description else { return };
    if tool.input.written().is_some_and(|source| source.get("description").is_some()) {
        losses.add_rewrite(
            n,
            ExactRewrite {
                part: "inputSchema/description".to_owned(),
                keyword: "description".to_owned(),
                reason: "the description of the tool has it, because the parameters have none",
                source: VendorTarget::Ollama.authority(),
                ..ExactRewrite::default()
            },
        );
    }
    let own = tool.description.as_deref().map(str::trim_end).filter(|own| !own.is_empty());
    let before = own.map(|own| format!("{own}\n\n")).unwrap_or_default();
    tool.description = Some(format!("{before}Arguments: {text}"));
}

/// Adds a loss if the rewritten schema accepts calls that cannot be restored.
fn add_unrestorable(
    vendor: VendorTarget,
    rewritten: &RewrittenSchema,
    n: usize,
    losses: &mut LossList<'_>,
) {
    // Objects with any keys are sent as lists of pairs, and a list may have a key twice.
    let is_map = |change: &&SchemaChange| {
        let keyword = change.keyword.as_str();
        change.action == ChangeAction::Restored
            && matches!(keyword, "additionalProperties" | "patternProperties")
    };
    let Some(change) = rewritten.changes.iter().find(is_map) else { return };
    let call = unrestorable(&standard_form(vendor, &rewritten.schema), &rewritten.steps);
    let effect = if call.is_some() { LossEffect::Widened } else { LossEffect::NotShown };
    let reason = "the target accepts a key twice in the list of key and value; such a call is \
                  refused when it is restored";
    let part = format!("inputSchema{}", change.at);
    losses.add(Some(n), &format!("/{part}"), &part, effect, reason.to_owned());
    if let Some(loss) = losses.last() {
        loss.source = Some(change.source);
        let witness = |value| Witness { value, source_accepts: false, is_target_form: true };
        loss.witnesses.extend(call.map(witness));
    }
}

/// Adds a loss for every change that is not exact.
fn add_changes(
    source: &Json,
    changes: &[SchemaChange],
    whole: impl Fn() -> Option<SchemaComparison>,
    n: usize,
    losses: &mut LossList<'_>,
) {
    for change in changes {
        let part = format!("inputSchema{}", change.at);
        let path = format!("/{part}");
        match change.action {
            ChangeAction::Rewritten | ChangeAction::Restored => {
                losses.add_rewrite(
                    n,
                    ExactRewrite {
                        keyword: change.keyword.clone(),
                        reason: change.reason,
                        source: change.source,
                        restored: change.action == ChangeAction::Restored,
                        part,
                        ..ExactRewrite::default()
                    },
                );
                continue;
            }
            ChangeAction::Renamed | ChangeAction::Dropped => {
                add_description_change(change, &path, &part, n, losses);
                continue;
            }
            ChangeAction::Widened | ChangeAction::Narrowed | ChangeAction::Approximated => {}
        }
        let compared = with_one_change(source, change)
            .map(|changed| compare(source, &changed))
            .or_else(&whole);
        let reason = reason_of(change);
        match &compared {
            Some(compared) => losses.add_compared(Some(n), &path, &part, compared, reason),
            None => losses.add(Some(n), &path, &part, LossEffect::NotShown, reason),
        }
        if let Some(loss) = losses.last() {
            loss.source = Some(change.source);
        }
    }
}

/// Adds a loss for a change that lets the schema accept what it accepted: a parameter with another
/// name, or an annotation that is gone.
fn add_description_change(
    change: &SchemaChange,
    path: &str,
    part: &str,
    n: usize,
    losses: &mut LossList<'_>,
) {
    match &change.new_name {
        Some(name) => {
            let target = losses.target().id();
            let reason = format!(
                "{}; it has the name `{name}`, and `toolwright call --as {target}` restores it",
                change.reason
            );
            losses.add(Some(n), path, part, LossEffect::Renamed, reason);
            let at = DocumentPath::parse(&change.at).unwrap_or_default();
            let before = at.last().map(|last| Json::from(&*last)).unwrap_or_default();
            losses.set_values(before, Some(Json::from(name.as_str())));
        }
        None => losses.add(Some(n), path, part, LossEffect::Dropped, reason_of(change)),
    }
    if let Some(loss) = losses.last() {
        loss.source = Some(change.source);
        (loss.vendor_enforces, loss.runner_enforces) = (None, None);
    }
}

fn reason_of(change: &SchemaChange) -> String {
    match &change.words {
        Some(words) => format!("{} (the description says: {words})", change.reason),
        None => change.reason.to_owned(),
    }
}

/// Whether the same calls are valid, once they are restored.
fn is_exact(change: &SchemaChange) -> bool {
    use ChangeAction::*;
    matches!(change.action, Rewritten | Restored | Renamed | Dropped)
}

/// Adds a loss if rewrites that are meant to be exact are not. If there are other changes, too, the
/// difference could come from them, so nothing is added.
fn check_exact_rewrites(
    source: &Json,
    vendor: VendorTarget,
    rewritten: &RewrittenSchema,
    n: usize,
    losses: &mut LossList<'_>,
) {
    if rewritten.changes.is_empty() || !rewritten.changes.iter().all(is_exact) {
        return;
    }
    let sent = standard_form(vendor, &rewritten.schema);
    let (compared, reason) = match rewritten.steps.as_slice() {
        [] => (compare(source, &sent), "the rewritten schema does not mean the same"),
        steps => (
            compare_restored(source, &sent, steps),
            "a call of the rewritten schema cannot be restored",
        ),
    };
    let is_shown = compared.wider.witness().or(compared.narrower.witness()).is_some();
    if is_shown {
        let reason = reason.to_owned();
        losses.add_compared(Some(n), "/inputSchema", "inputSchema", &compared, reason);
    }
}

/// The source schema with one change: without the keyword, or with the one that it lacked.
fn with_one_change(source: &Json, change: &SchemaChange) -> Option<Json> {
    let mut changed = source.clone();
    let at = DocumentPath::parse(&change.at)?;
    let is_keyword = at.last().is_some_and(|last| last == change.keyword.as_str());
    if is_keyword && source.pointer(&change.at).is_some() {
        let parent = changed.pointer_mut(at.parent()?.as_str())?.as_object_mut()?;
        parent.shift_remove(&change.keyword);
        return Some(changed);
    }
    // Strict modes close objects.
    let open = changed.pointer_mut(&change.at)?.as_object_mut()?;
    if change.keyword == "additionalProperties" && !open.contains_key("additionalProperties") {
        open.insert("additionalProperties".to_owned(), json!(false));
        return Some(changed);
    }
    None
}

/// MCP demands that input schemas, and schemas of results, say `type: object`.
fn state_object_type(tool: &mut Tool, find_losses: bool, n: usize, losses: &mut LossList<'_>) {
    if let Some(before @ Json::Object(members)) = tool.input.written()
        && !members.contains_key("type")
    {
        let mut typed = Object::new();
        typed.insert("type".to_owned(), json!("object"));
        typed.extend(members.clone());
        let typed = Json::Object(typed);
        if find_losses {
            let compared = compare(before, &typed);
            let reason = "MCP demands `type: object`; arguments are always an object".to_owned();
            losses.add_compared(Some(n), "/inputSchema", "inputSchema/type", &compared, reason);
        }
        tool.input = typed.into();
    }
    // A result that is not an object has no place; comparing the records reports it.
    let is_object = |schema: &Json| schema.get("type").is_none_or(|kind| kind == "object");
    tool.output.take_if(|schema| !is_object(schema));
}

/// Adds a loss if the schema that was read back is not the one that was written.
pub(super) fn compare_written(
    sent: &Tool,
    back: &Tool,
    target: WriteTarget,
    n: usize,
    losses: &mut LossList<'_>,
) {
    let standard = |schema: Json| match target {
        WriteTarget::Vendor(vendor) => standard_form(vendor, &schema),
        _ => schema,
    };
    let (sent, back) = (standard(sent.input.to_json()), back.input.to_json());
    if sent == back {
        return;
    }
    let compared = compare(&sent, &back);
    // Another spelling of the same schema, such as Gemini's `nullable`.
    if compared.is_equal() {
        return;
    }
    let reason = format!("{} writes the schema in another form", target.id());
    losses.add_compared(Some(n), "/inputSchema", "inputSchema", &compared, reason);
}
