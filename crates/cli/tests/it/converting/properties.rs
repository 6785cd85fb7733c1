//! What holds for every definition and every target, tried on drawn ones. Each definition goes over
//! one drawn pair of formats. `TOOLWRIGHT_CASES` asks for more of them than usual.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_formats::{MissingField, WriteTarget};
use toolwright_model::{Draft, InputSchema};
use toolwright_schema::{RestoreStep, Schema, adapt, restore};
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Document, Severity, Syntax};
use toolwright_workspace::{
    CheckOptions, Conversion, ConvertError, ConvertOptions, FieldSetting, LoadedDocument, Loss,
    LossEffect, ReadOptions, Workspace, convert,
};

use super::completeness::{ReportedPlaces, missing, parsed};
use super::drawn_tools::{DefinitionDraw, FORMS, definition, format_of};
use super::instances;

/// Instances drawn for each tool.
const INSTANCES: u64 = 100;

fn cases() -> u64 {
    std::env::var("TOOLWRIGHT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500)
}

fn load(text: &str, format: &str) -> LoadedDocument {
    let mut workspace = Workspace::new(Arc::new(InProcessAnalyzer));
    workspace.overlay.set("source.json", text);
    let format = toolwright_formats::by_name(format).map(|format| format.id());
    let read = ReadOptions { format, ..ReadOptions::default() };
    let options = CheckOptions { read, ..CheckOptions::default() };
    let load = workspace.load(&[PathBuf::from("source.json")], ReadOptions { rules: true, ..read });
    let load = workspace.check_loaded(load, &[], &options).load;
    load.documents.into_iter().next().expect("a document")
}

/// Converts, giving what the target demands and the source does not have.
fn converted(loaded: &LoadedDocument, target: WriteTarget) -> Conversion {
    let mut options = ConvertOptions {
        target,
        settings: Vec::new(),
        leave_out_bad_tools: false,
        find_losses: true,
    };
    loop {
        match convert(loaded, &options) {
            Ok(conversion) => return conversion,
            Err(ConvertError::MissingFields(_, missing)) if options.settings.is_empty() => {
                options.settings = missing.iter().map(given).collect();
            }
            Err(error) => {
                let errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
                let errors: Vec<_> = errors.map(|d| (d.code.name, &d.message, &d.path)).collect();
                let text = loaded.diagnostics.first().map(|d| d.source.text().to_owned());
                panic!("{error}: {errors:#?}\n{text:?}")
            }
        }
    }
}

fn given(missing: &MissingField) -> FieldSetting {
    let value = match missing.field.rsplit('.').next() {
        Some("inputSchema") => r#"{"type": "object"}"#,
        Some("namespace") => "given",
        _ => "A description that was given",
    };
    FieldSetting { field: missing.field.clone(), value: value.to_owned() }
}

fn reported(conversion: &Conversion) -> ReportedPlaces {
    let losses = conversion.losses.iter().filter(|loss| loss.effect != LossEffect::Filled);
    // Of a parameter only the name is another one.
    let is_name =
        |loss: &&Loss| loss.effect == LossEffect::Renamed && loss.part.starts_with("inputSchema");
    let names = losses.clone().filter(is_name).map(|loss| (&loss.at, "properties"));
    let rewrites = conversion.rewrites.iter().map(|one| (&one.at, one.keyword.as_str()));
    ReportedPlaces {
        losses: losses
            .filter(|loss| !is_name(loss))
            .map(|loss| loss.at.as_str().to_owned())
            .collect(),
        rewrites: rewrites
            .chain(names)
            .map(|(at, keyword)| (at.as_str().to_owned(), keyword.to_owned()))
            .collect(),
    }
}

/// The input schemas of a document, in standard form.
fn input_schemas(text: &str, target: WriteTarget) -> Vec<Json> {
    let syntax = if target == WriteTarget::Aios { Syntax::Yaml } else { Syntax::Json };
    let document = Arc::new(Document::parse("converted", text, syntax));
    let reading = toolwright_formats::read(&document, target.format());
    let schema = |tool: &Draft| tool.input.ok().map(InputSchema::to_json).unwrap_or_default();
    reading.toolset.tools.iter().map(schema).collect()
}

/// A drawn definition, and what it was converted to.
struct DrawnCase {
    seed: u64,
    form: &'static str,
    target: WriteTarget,
    source: Json,
    loaded: LoadedDocument,
    conversion: Conversion,
}

impl DrawnCase {
    fn draw(seed: u64) -> DrawnCase {
        let mut draw = DefinitionDraw::new(seed);
        let form = FORMS[draw.below(FORMS.len())];
        let targets: Vec<WriteTarget> = WriteTarget::all().collect();
        let target = targets[draw.below(targets.len())];
        DrawnCase::convert(seed, form, target)
    }

    /// Draws until a definition has no errors: some schemas have no instance.
    fn convert(seed: u64, form: &'static str, target: WriteTarget) -> DrawnCase {
        let found = (0..50).find_map(|attempt| {
            let source = definition(form, &mut DefinitionDraw::new(seed + (attempt << 40)));
            let loaded = load(&source.to_string(), format_of(form));
            let mut errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
            errors.next().is_none().then_some((source, loaded))
        });
        let (source, loaded) = found.expect("most definitions have no errors");
        let conversion = converted(&loaded, target);
        DrawnCase { seed, form, target, source, loaded, conversion }
    }

    /// A tool of MCP as it is written.
    fn of_text(text: &str, target: WriteTarget) -> DrawnCase {
        let loaded = load(text, "mcp");
        let conversion = converted(&loaded, target);
        let source = parsed(text);
        DrawnCase { seed: 0, form: "mcp", target, source, loaded, conversion }
    }

    fn show(&self) -> String {
        let losses: Vec<String> = self
            .conversion
            .losses
            .iter()
            .map(|loss| format!("{} {} {:?}", loss.effect.name(), loss.at, loss.reason))
            .collect();
        format!(
            "case {}: {} as {}\n{:#}\n{}\n{}\n{:#?}",
            self.seed,
            self.form,
            self.target.id(),
            self.source,
            self.conversion.text,
            losses.join("\n"),
            self.conversion.rewrites
        )
    }

    /// The losses of the input schema of a tool.
    fn schema_losses<'c>(&'c self, id: &'c str) -> impl Iterator<Item = &'c Loss> {
        let is_own = move |loss: &&Loss| {
            loss.tool.as_deref() == Some(id) && loss.part.starts_with("inputSchema")
        };
        self.conversion.losses.iter().filter(is_own)
    }

    /// The keys and values that are neither in the output nor in the report.
    fn missing(&self) -> Vec<String> {
        let output = parsed(&self.conversion.text);
        missing(format_of(self.form), &self.source, &output, &reported(&self.conversion))
    }

    /// The instances of the report are judged by both schemas as the report says. (By a second
    /// validator, too: e2e/converting.py.)
    fn assert_witnesses(&self, id: &str, source: &Schema, target: &Schema, steps: &[RestoreStep]) {
        for loss in self.schema_losses(id) {
            for witness in &loss.witnesses {
                if witness.is_target_form {
                    let is_refused = restore(steps, witness.value.clone()).is_err();
                    assert!(target.is_valid(&witness.value) && is_refused, "{}", self.show());
                    continue;
                }
                let accepts = source.is_valid(&witness.value);
                assert_eq!(accepts, witness.source_accepts, "{loss:#?}\n{}", self.show());
                // A call that the source refuses may be restored from one of another form.
                if !accepts && !steps.is_empty() {
                    continue;
                }
                let adapted = adapt(steps, witness.value.clone());
                let is_sent = adapted.is_ok_and(|call| {
                    target.is_valid(&call) && restore(steps, call).as_ref() == Ok(&witness.value)
                });
                assert_ne!(is_sent, accepts, "{loss:#?}\n{}", self.show());
            }
            let has_effect = matches!(
                loss.effect,
                LossEffect::Widened | LossEffect::Narrowed | LossEffect::Approximated
            );
            assert_eq!(has_effect, !loss.witnesses.is_empty(), "{loss:#?}\n{}", self.show());
        }
    }

    /// Without a loss, both schemas accept the same calls.
    fn assert_equal(&self, schema: &Json, source: &Schema, target: &Schema, steps: &[RestoreStep]) {
        for number in 0..INSTANCES {
            let mut draw = instances::Draw(self.seed ^ (number << 32));
            let call = instances::instance(schema, schema, &mut draw, 0);
            if !call.is_object() {
                continue;
            }
            let is_valid = source.is_valid(&call);
            let Ok(adapted) = adapt(steps, call.clone()) else {
                assert!(!is_valid, "cannot be sent: {call}\n{}", self.show());
                continue;
            };
            if is_valid {
                assert!(target.is_valid(&adapted), "refused: {call}\n{}", self.show());
                let back = restore(steps, adapted);
                assert_eq!(back.as_ref(), Ok(&call), "{}", self.show());
            } else if target.is_valid(&adapted)
                && let Ok(restored) = restore(steps, adapted)
            {
                assert!(source.is_valid(&restored), "accepted: {call}\n{}", self.show());
            }
        }
    }

    /// A call of the target, restored, is one of the source, or the report has the reason.
    fn assert_restored(
        &self,
        id: &str,
        sent: &Json,
        source: &Schema,
        target: &Schema,
        steps: &[RestoreStep],
    ) {
        let is_wider = self.schema_losses(id).any(|loss| {
            matches!(
                loss.effect,
                LossEffect::Widened | LossEffect::Approximated | LossEffect::NotShown
            )
        });
        if is_wider {
            return;
        }
        for number in 0..INSTANCES {
            let mut draw = instances::Draw(self.seed ^ (number << 24));
            let call = instances::instance(sent, sent, &mut draw, 0);
            if call.is_object() && target.is_valid(&call) {
                let restored = restore(steps, call.clone());
                let is_valid = restored.as_ref().is_ok_and(|restored| source.is_valid(restored));
                assert!(is_valid, "accepted: {call} as {restored:?}\n{}", self.show());
            }
        }
    }

    fn assert_schemas(&self) {
        let Some(reading) = &self.loaded.reading else { return };
        let sent = input_schemas(&self.conversion.text, self.target);
        let drafts = &reading.toolset.tools;
        assert_eq!(sent.len(), drafts.len(), "{}", self.show());
        let tools = self.conversion.tools.iter().zip(drafts).zip(&sent);
        for ((tool, draft), sent) in tools {
            let Some(schema) = draft.input.ok().and_then(InputSchema::written) else { continue };
            let source = Schema::compile(schema).expect("a checked schema");
            let target = Schema::compile(sent)
                .unwrap_or_else(|error| panic!("{error}\n{sent:#}\n{}", self.show()));
            self.assert_witnesses(&tool.id, &source, &target, &tool.steps);
            let is_equal =
                |loss: &Loss| matches!(loss.effect, LossEffect::Dropped | LossEffect::Renamed);
            if self.schema_losses(&tool.id).all(is_equal) {
                self.assert_equal(schema, &source, &target, &tool.steps);
            }
            self.assert_restored(&tool.id, sent, &source, &target, &tool.steps);
        }
    }
}

#[test]
fn drawn_tools_are_complete_and_their_losses_true() {
    let mut incomplete = Vec::new();
    for seed in 0..cases() {
        let case = DrawnCase::draw(seed);
        case.assert_schemas();
        let missing = case.missing();
        if !missing.is_empty() {
            incomplete.push((case, missing));
        }
    }
    // All of them, because one kind of mistake often has several.
    let line = |(case, missing): &(DrawnCase, Vec<String>)| {
        format!("case {}: {} as {}: {missing:?}\n", case.seed, case.form, case.target.id())
    };
    let lines: String = incomplete.iter().map(line).collect();
    if let Some((case, _)) = incomplete.first() {
        panic!("neither written nor reported:\n{lines}\n{}", case.show());
    }
}

/// Schemas with parts that few tools have: names, references, conditions and values that are easily
/// lost. Each goes to every target.
#[test]
fn losses_of_odd_tools_are_true() {
    let document = Document::parse("odd", include_str!("odd_tools.json"), Syntax::Json);
    for tool in document.root().items() {
        let text = tool.json_text();
        for target in WriteTarget::all() {
            DrawnCase::of_text(&text, target).assert_schemas();
        }
    }
}

/// The target that writes a form, if it writes documents of its format as they are.
fn own_target(form: &str) -> Option<WriteTarget> {
    WriteTarget::by_id(form).filter(|target| target.vendor().is_none())
}

#[test]
fn the_same_format_gives_the_same_drawn_document() {
    for (n, form) in FORMS.iter().filter(|form| own_target(form).is_some()).enumerate() {
        for seed in 0..cases() / 20 {
            let target = own_target(form).expect("filtered");
            let case = DrawnCase::convert(seed * 31 + n as u64, form, target);
            assert_eq!(parsed(&case.conversion.text), case.source, "{}", case.show());
            assert_eq!(case.conversion.losses, [], "{}", case.show());
        }
    }
}

/// A definition that is converted to another format and back keeps every part that neither report
/// lists.
#[test]
fn out_and_back_only_reported_parts_are_lost() {
    let own: Vec<&str> = FORMS.into_iter().filter(|form| own_target(form).is_some()).collect();
    for seed in 0..cases() / 5 {
        let mut draw = DefinitionDraw::new(seed ^ 0x0b5e);
        let form = own[draw.below(own.len())];
        let through = own[draw.below(own.len())];
        let out = DrawnCase::convert(seed, form, own_target(through).expect("filtered"));
        let middle = parsed(&out.conversion.text);
        let loaded = load(&middle.to_string(), format_of(through));
        let back = converted(&loaded, own_target(form).expect("filtered"));
        let left =
            missing(format_of(form), &out.source, &parsed(&back.text), &reported(&out.conversion));
        // What the second report names is in the document between, so it is found there by value.
        let lost_on_the_way_back = |line: &String| {
            let word = line.rsplit(": ").next().unwrap_or_default();
            let places = back.losses.iter().filter_map(|loss| middle.pointer(loss.at.as_str()));
            places.into_iter().any(|value| value.to_string().to_lowercase().contains(word))
        };
        let left: Vec<&String> = left.iter().filter(|line| !lost_on_the_way_back(line)).collect();
        assert!(left.is_empty(), "lost on the way: {left:#?}\n{}\n{}", back.text, out.show());
    }
}
