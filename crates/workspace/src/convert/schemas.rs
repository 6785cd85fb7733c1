//! Schemas that the target accepts, and what that costs.
//!
//! The rewrite of a schema is `schema::rewrite_if_needed`. It reports every change, if losses are
//! looked for. What a change means is decided by instances that the source schema and the schema
//! that is sent judge differently, after restoring where calls have another form:
//!
//! ```text
//! change at /properties/a/pattern ─▶ source without it ─┐
//!                                    schema that is sent ┴─ both accept ─▶ widened, an instance
//! ```
//!
//! What that does not decide is "not shown". An annotation that is gone is "dropped", and a
//! parameter with another name is "renamed".
//!
//! A change that is meant to be exact is listed as a rewrite. At the end the source and the result
//! are compared as wholes: a difference that none of the changes shows is a loss, too.
//!
//! What belongs to the schema changes with it: examples become calls of the rewritten schema, and
//! where the target has no description of the parameters as a whole, the tool's one takes it in.
//!
//! ```text
//! source ─ rewrite_if_needed ─▶ sent, changes, steps ─┬─ each change ─▶ loss or exact rewrite
//!                                                     ├─ whole ───────▶ what no change shows
//!                                                     └─ steps ───────▶ examples, unrestorable
//! ```

use serde_json::json;
use toolwright_formats::WriteTarget;
use toolwright_model::{InputSchema, Json, Object, Tool, Toolset};
use toolwright_schema::{
    ChangeAction, ChangeReport, EditedSchema, RestoreStep, RewrittenSchema, Schema, SchemaChange,
    SchemaComparison, VendorTarget, Verdict, adapt, compare, rewrite_if_needed, rewrite_result,
    standard_form, stated_types, unrestorable,
};
use toolwright_source::DocumentPath;

use super::loss::{ExactRewrite, LossEffect, LossList, Witness};

/// Rewrites the schemas of all tools for the target. Returns how calls of each are restored.
///
/// The list has one entry per tool, empty where calls stay as they are. Formats of definitions take
/// every schema; MCP and WebMCP only demand that the type is stated.
pub(super) fn rewrite(
    toolset: &mut Toolset<Tool>,
    target: WriteTarget,
    find_losses: bool,
    losses: &mut LossList<'_>,
) -> Vec<Vec<RestoreStep>> {
    let mut steps = Vec::new();
    for (n, tool) in toolset.tools.iter_mut().enumerate() {
        let own = match target {
            WriteTarget::Vendor(vendor) => {
                if vendor == VendorTarget::Bedrock {
                    state_input_type(tool, vendor.authority(), n, losses);
                }
                rewrite_for_vendor(tool, vendor, find_losses, n, losses)
            }
            WriteTarget::Mcp | WriteTarget::McpPlain | WriteTarget::WebMcp => {
                state_input_type(tool, "MCP", n, losses);
                state_output_type(tool, n, losses);
                Vec::new()
            }
            _ => Vec::new(),
        };
        steps.push(own);
    }
    steps
}

/// Rewrites the input of one tool, and returns how its calls are restored.
///
/// Comparing costs far more than rewriting, so it is done only if losses are looked for and there
/// is a change.
///
/// The order matters: the changes are judged against the source schema, then the examples are
/// adapted, and only then the tool gets the new schema.
fn rewrite_for_vendor(
    tool: &mut Tool,
    vendor: VendorTarget,
    find_losses: bool,
    n: usize,
    losses: &mut LossList<'_>,
) -> Vec<RestoreStep> {
    // The result is described in a variant of OpenAPI's schemas, too.
    if vendor == VendorTarget::GeminiOpenapi {
        tool.output = tool.output.take().and_then(|output| rewrite_result(vendor, &output));
    }
    let InputSchema::Written(source) = &tool.input else { return Vec::new() };
    let report = if find_losses { ChangeReport::Wanted } else { ChangeReport::Unwanted };
    let Some(mut rewritten) = rewrite_if_needed(vendor, source, report) else { return Vec::new() };
    if find_losses && !rewritten.changes.is_empty() {
        let sent = standard_form(vendor, &rewritten.schema);
        let typed = with_object_type(source);
        let source = typed.as_ref().unwrap_or(source);
        let edited = EditedSchema::new(source, &sent, &rewritten.steps);
        let shown = add_changes(source, &edited, &rewritten.changes, n, losses);
        let is_exact = rewritten.changes.iter().all(is_exact);
        let reason = match rewritten.steps.is_empty() {
            _ if !is_exact => "several changes together mean this",
            true => "the rewritten schema does not mean the same",
            false => "a call of the rewritten schema cannot be restored",
        };
        add_unexplained(edited.whole(), &shown, reason, n, losses);
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
///
/// The schema is compiled for the first example, since most tools have none. One that cannot be
/// compiled refuses nothing here.
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
///
/// The rewrite adds words about dropped keywords to that description, so it may be there although
/// the source has none. Only a description of the source is listed as a rewrite.
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
///
/// `unrestorable` looks for such a call. If it finds none, the loss is "not shown": a second key
/// may still be possible.
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
    let reason = match vendor {
        VendorTarget::GeminiOpenapi | VendorTarget::Ollama => {
            "the target accepts a key twice in the list of key and value, and properties beside \
             the list; such a call is refused when it is restored"
        }
        _ => {
            "the target accepts a key twice in the list of key and value; such a call is refused \
             when it is restored"
        }
    };
    let part = format!("inputSchema{}", change.at);
    losses.add(Some(n), &format!("/{part}"), &part, effect, reason.to_owned());
    if let Some(loss) = losses.last() {
        loss.source = Some(change.source);
        let witness = |value| Witness { value, source_accepts: false, is_target_form: true };
        loss.witnesses.extend(call.map(witness));
    }
}

/// Adds a loss for every change that is not exact. Returns the directions that they show.
///
/// `edited` has the source and the result. The effect of a change that is not exact is looked for
/// by making that change alone, where it can be made (`with_one_change`).
///
/// A change that is meant to widen only is not searched for calls that the target refuses
/// (`only_widens`).
fn add_changes(
    source: &Json,
    edited: &EditedSchema<'_>,
    changes: &[SchemaChange],
    n: usize,
    losses: &mut LossList<'_>,
) -> ShownDirections {
    let mut shown = ShownDirections::default();
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
        let alone = with_one_change(source, change);
        let only_widens = change.action == ChangeAction::Widened;
        let effect = edited.effect_of(&change.at, alone.as_ref(), only_widens);
        shown.wider |= effect.wider.witness().is_some();
        shown.narrower |= effect.narrower.witness().is_some();
        losses.add_compared(Some(n), &path, &part, &effect, reason_of(change));
        if let Some(loss) = losses.last() {
            loss.source = Some(change.source);
        }
    }
    shown
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

/// The reason of a change, with the words that the description got for it.
fn reason_of(change: &SchemaChange) -> String {
    match &change.words {
        Some(words) => format!("{} (the description says: {words})", change.reason),
        None => change.reason.to_owned(),
    }
}

/// Whether the same calls are valid, once they are restored.
///
/// Used to word the reason if the schemas as wholes differ all the same.
fn is_exact(change: &SchemaChange) -> bool {
    use ChangeAction::*;
    matches!(change.action, Rewritten | Restored | Renamed | Dropped)
}

/// The directions for which a loss has an instance.
#[derive(Default)]
struct ShownDirections {
    wider: bool,
    narrower: bool,
}

/// Adds a loss if the whole schema differs in a direction that no change shows: a rewrite that is
/// meant to be exact is not, or several changes have an effect that none of them has alone.
///
/// `Verdict::Yes` has an instance; an undecided direction is not a loss here, because the single
/// changes have said so already.
fn add_unexplained(
    whole: &SchemaComparison,
    shown: &ShownDirections,
    reason: &str,
    n: usize,
    losses: &mut LossList<'_>,
) {
    let rest = |is_shown: bool, verdict: &Verdict| match verdict {
        Verdict::Yes(_) if !is_shown => verdict.clone(),
        _ => Verdict::No,
    };
    let rest = SchemaComparison {
        wider: rest(shown.wider, &whole.wider),
        narrower: rest(shown.narrower, &whole.narrower),
    };
    if !rest.is_equal() {
        let reason = reason.to_owned();
        losses.add_compared(Some(n), "/inputSchema", "inputSchema", &rest, reason);
    }
}

/// The source schema with one change: without the keyword, or with the one that it lacked.
///
/// ```text
/// Widened at /properties/a/pattern              without `pattern`
/// Narrowed at /properties/a, keyword `null`     with `not: {type: null}`
/// Narrowed at "", `additionalProperties`        with `additionalProperties: false`
/// ```
///
/// `None` for a change that is not one keyword. The search then starts from all changes.
fn with_one_change(source: &Json, change: &SchemaChange) -> Option<Json> {
    let mut changed = source.clone();
    let at = DocumentPath::parse(&change.at)?;
    // `false` for a property or for items is dropped as a whole.
    let is_boolean = source.pointer(&change.at)?.is_boolean();
    // A map whose values are closed is about the schema at the keyword of the same name.
    let is_closed =
        change.keyword == "additionalProperties" && change.action == ChangeAction::Narrowed;
    let is_keyword =
        at.last().is_some_and(|last| last == change.keyword.as_str()) && !is_name(&change.at);
    if let Some(last) = at.last()
        && (is_keyword && !is_closed || is_boolean)
    {
        let parent = changed.pointer_mut(at.parent()?.as_str())?.as_object_mut()?;
        parent.shift_remove(&*last);
        return Some(changed);
    }
    let types = || stated_types(source.pointer(&change.at)?, source);
    let open = changed.pointer_mut(&change.at)?.as_object_mut()?;
    let added = match change.keyword.as_str() {
        // Strict modes close objects.
        "additionalProperties" => ("additionalProperties", json!(false)),
        // The property cannot be sent as `null`. Beside `$ref`, draft-07 would not read this.
        "null" if !open.contains_key("$ref") => ("not", json!({ "type": "null" })),
        "type" if change.action == ChangeAction::Narrowed && !open.contains_key("$ref") => {
            ("type", types()?)
        }
        _ => return None,
    };
    if open.contains_key(added.0) {
        return None;
    }
    open.insert(added.0.to_owned(), added.1);
    Some(changed)
}

/// Whether the last part of a pointer into a schema is the name of a property or the like, which
/// may be the name of a keyword.
fn is_name(pointer: &str) -> bool {
    let mut tokens = pointer.split('/').skip(1);
    while let Some(keyword) = tokens.next() {
        let is_named = matches!(
            keyword,
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions"
        );
        if is_named && tokens.next().is_some() && tokens.clone().next().is_none() {
            return true;
        }
    }
    false
}

/// An input schema that leaves open whether arguments are an object, with `type: object`. Arguments
/// always are, so the same calls are valid. `None` if the schema says what they are.
///
/// A list of types is narrowed to `object`; where `object` is not in it, nothing is changed, and
/// the rules of `check` report it.
fn with_object_type(schema: &Json) -> Option<Json> {
    let Json::Object(members) = schema else { return None };
    let is_open = match members.get("type") {
        None => true,
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => false,
    };
    is_open.then(|| {
        let mut typed = members.clone();
        match typed.get_mut("type") {
            Some(kind) => *kind = json!("object"),
            None => drop(typed.shift_insert(0, "type".to_owned(), json!("object"))),
        }
        Json::Object(typed)
    })
}

/// Some targets demand that input schemas say `type: object`.
fn state_input_type(tool: &mut Tool, source: &'static str, n: usize, losses: &mut LossList<'_>) {
    let Some(written) = tool.input.written() else { return };
    let Some(typed) = with_object_type(written) else { return };
    let part = match written.get("type") {
        Some(_) => "inputSchema/type",
        None => "inputSchema",
    };
    losses.add_rewrite(
        n,
        ExactRewrite {
            part: part.to_owned(),
            keyword: "type".to_owned(),
            reason: "the target demands `type: object`, and arguments are always an object",
            source,
            ..ExactRewrite::default()
        },
    );
    tool.input = typed.into();
}

/// MCP demands that schemas of results say `type: object`.
///
/// Three cases: a type that is `object` stays; none is stated if what the schema refers to allows
/// it; any other schema is taken away, because MCP has no place for such a result.
fn state_output_type(tool: &mut Tool, n: usize, losses: &mut LossList<'_>) {
    // A result that is not an object has no place; comparing the records reports it, and what
    // stating the type changes.
    if let Some(output) = tool.output.take_if(|schema| schema.get("type").is_none()) {
        let is_object = demands_object(&output);
        tool.output = result_with_object_type(output);
        if is_object {
            losses.add_rewrite(
                n,
                ExactRewrite {
                    part: "outputSchema".to_owned(),
                    keyword: "type".to_owned(),
                    reason: "what it refers to is an object, and MCP wants that stated",
                    source: "MCP",
                    ..ExactRewrite::default()
                },
            );
        }
    }
    tool.output.take_if(|schema| schema.get("type").is_some_and(|kind| kind != "object"));
}

/// A schema of a result that states no type, with `type: object`; `None` if what it refers to is
/// not an object.
///
/// `{"$ref": R}` becomes `{"type": "object", "$ref": R}` if what `R` refers to may be an object.
fn result_with_object_type(schema: Json) -> Option<Json> {
    let allows_object = match referred(&schema).get("type") {
        None => true,
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
    };
    let Json::Object(members) = schema else { return None };
    let mut typed = Object::new();
    typed.insert("type".to_owned(), json!("object"));
    typed.extend(members);
    allows_object.then_some(Json::Object(typed))
}

/// Whether what a schema refers to accepts objects alone.
fn demands_object(schema: &Json) -> bool {
    referred(schema).get("type").is_some_and(|kind| kind == "object")
}

/// What a schema refers to: itself, if it is not a reference.
///
/// The bound also ends a reference that leads to itself.
fn referred(schema: &Json) -> &Json {
    let mut referred = schema;
    for _ in 0..MAX_REFERENCES {
        let reference = referred.get("$ref").and_then(Json::as_str);
        let target = reference.and_then(|text| schema.pointer(text.strip_prefix('#')?));
        let Some(target) = target else { break };
        referred = target;
    }
    referred
}

/// References that are followed from one to the next.
const MAX_REFERENCES: usize = 16;

/// Adds a loss if the schema that was read back is not the one that was written.
///
/// `convert` reads what it wrote. A writer that cannot state a part of the schema would otherwise
/// lose it silently.
pub(super) fn compare_written(
    [source, sent, back]: [&Tool; 3],
    steps: &[RestoreStep],
    target: WriteTarget,
    n: usize,
    losses: &mut LossList<'_>,
) {
    let standard = |schema: Json| match target {
        WriteTarget::Vendor(vendor) => standard_form(vendor, &schema),
        _ => schema,
    };
    let (sent, back) = (standard(sent.input.to_json()), back.input.to_json());
    // Another spelling of the same schema, such as Gemini's `nullable`.
    if sent == back || compare(&sent, &back).is_equal() {
        return;
    }
    let source = source.input.to_json();
    let source = with_object_type(&source).unwrap_or(source);
    let edited = EditedSchema::new(&source, &back, steps);
    if edited.whole().is_equal() {
        return;
    }
    let reason = format!("{} writes the schema in another form", target.id());
    losses.add_compared(Some(n), "/inputSchema", "inputSchema", edited.whole(), reason);
}
