//! Around a call: processors on its arguments, then on its result, and what comes between: finding
//! the data in the result (`payload_schemas`) and extracting fields from it (`field_mappings`).
//!
//! ```text
//! arguments ─ prepare ─▶ the call ─▶ result ─ payload ─▶ data ─┬─ processors ─▶ new result
//!                                                              └─ helpers ─▶ fields ─▶ its _meta
//! ```
//!
//! Processors fail closed: if one fails, so does the call, because the next step would work on data
//! of an unknown shape. A field that cannot be extracted is only a warning: the result is complete
//! without it.

use serde_json::json;
use toolwright_model::{Detection, FunctionLimits, ProcessorStage};
use toolwright_sandbox::{ProgramInput, SandboxErrorCode, WorkerPool};
use toolwright_script::ScriptAnalyzer;

use super::{
    FunctionRole, KnowledgeFunction, RunnableKnowledge, function_input, guest_limits, payload,
};
use crate::{Failure, Json, Log, Outcome, code};

/// The most characters of a value that a message quotes.
const MAX_QUOTED: usize = 120;

/// A value in backticks for a message, cut if it is long.
pub(super) fn abbreviate(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}

/// Everything that running the functions of a definition needs. Borrowed from the runner for one
/// call.
#[derive(Clone, Copy)]
pub struct FunctionRunner<'a> {
    /// The workers. Without them, every function fails with SANDBOX_FAILED.
    pub pool: Option<&'a WorkerPool>,
    /// Locates syntax errors. Without it, they are reported where the engine noticed them.
    pub analyzer: Option<&'a dyn ScriptAnalyzer>,
    /// What each function may use.
    pub limits: &'a FunctionLimits,
    /// Takes what functions write to `console`.
    pub log: &'a Log,
}

impl FunctionRunner<'_> {
    /// Runs a processor, or a helper for one. A failure is that of the call: PROCESSOR_FAILED, or
    /// SANDBOX_FAILED if the code is not at fault.
    async fn run(
        &self,
        function: &KnowledgeFunction,
        input: &ProgramInput,
    ) -> Result<Json, Failure> {
        let Some(pool) = self.pool else {
            return Err(Failure::new(
                &code::SANDBOX_FAILED,
                format!("{function:?} cannot run: there is no sandbox"),
            ));
        };
        let limits = guest_limits(self.limits, function.role);
        match function.run(pool, self.analyzer, input, &limits, None).await {
            Ok(output) => {
                function.log_console(&output.log, self.log);
                Ok(output.value)
            }
            Err(failure) => {
                function.log_console(&failure.error.log, self.log);
                let code = match failure.error.code {
                    SandboxErrorCode::StartFailed | SandboxErrorCode::WorkerDied => {
                        &code::SANDBOX_FAILED
                    }
                    _ => &code::PROCESSOR_FAILED,
                };
                Err(Failure::new(code, function.explain(&failure)))
            }
        }
    }
}

/// What was found in the result of a call.
struct ExtractedPayload {
    /// The part of the result that processors work on.
    data: Json,
    /// The fields that helpers extracted, nested as their paths say.
    fields: Json,
    warnings: Vec<String>,
}

impl RunnableKnowledge {
    /// The arguments after the processors of the request, each of which gets the result of the one
    /// before. `None` if the command has no such processors: then the caller's arguments are sent,
    /// and nothing is copied.
    pub(crate) async fn prepare(
        &self,
        command: &str,
        arguments: &Json,
        runner: FunctionRunner<'_>,
    ) -> Result<Option<Json>, Failure> {
        // `None` until the first processor has run, so that the arguments are not copied for it.
        let mut prepared = None;
        for function in self.processors(command, ProcessorStage::Request) {
            let given =
                function_input(FunctionRole::Processor, prepared.as_ref().unwrap_or(arguments));
            let value = runner.run(function, &given).await?;
            // Every executor sends arguments as an object, so any other value would fail later and
            // without naming the processor.
            if !value.is_object() {
                let what = format!(
                    "{function:?} turned the arguments into {}, which is not an object",
                    abbreviate(&value)
                );
                return Err(Failure::new(&code::PROCESSOR_FAILED, what));
            }
            prepared = Some(value);
        }
        Ok(prepared)
    }

    /// The result after the processors of the response. Fields that helpers extracted are under
    /// `toolwright/fields` in its metadata. An error result is left alone: it has another shape.
    pub(crate) async fn respond(
        &self,
        command: &str,
        mut outcome: Outcome,
        runner: FunctionRunner<'_>,
    ) -> Result<Outcome, Failure> {
        let mut processors = self.processors(command, ProcessorStage::Response).peekable();
        let extracts = self.model.field_mappings.iter().any(|mapping| mapping.extraction.is_some());
        if outcome.is_error || (processors.peek().is_none() && !extracts) {
            return Ok(outcome);
        }
        // Without processors the result stays as it is, and only the metadata is added.
        let value = outcome.value();
        let ExtractedPayload { data, fields, warnings } =
            self.extract_payload(&value, processors.peek().is_some(), runner).await?;
        outcome.warnings.extend(warnings);
        if fields.as_object().is_some_and(|fields| !fields.is_empty()) {
            // A server may send metadata that is not an object; it cannot be extended and is
            // dropped.
            let mut meta = match outcome.meta.take() {
                Some(Json::Object(meta)) => meta,
                _ => serde_json::Map::new(),
            };
            meta.insert("toolwright/fields".to_owned(), fields.clone());
            outcome.meta = Some(Json::Object(meta));
        }
        let mut processed = None;
        for function in processors {
            let mut given =
                function_input(FunctionRole::Processor, processed.as_ref().unwrap_or(&data));
            // Instead of the empty `fields` that every processor has.
            given.globals = vec![("fields".to_owned(), fields.clone())];
            processed = Some(runner.run(function, &given).await?);
        }
        Ok(match processed {
            Some(value) => Outcome {
                meta: outcome.meta,
                warnings: outcome.warnings,
                ..Outcome::value_of(value)
            },
            None => outcome,
        })
    }

    /// Finds the data in a result, and the fields in the data. A result of an unknown shape is a
    /// failure only if processors depend on it (`is_processed`).
    async fn extract_payload(
        &self,
        value: &Json,
        is_processed: bool,
        runner: FunctionRunner<'_>,
    ) -> Result<ExtractedPayload, Failure> {
        let mut warnings = Vec::new();
        let data = match self.payload(value, runner, &mut warnings).await {
            Ok(data) => data,
            Err(failure) if is_processed => return Err(failure),
            Err(failure) => {
                // An unknown shape is normal here: not every answer has fields. A helper that
                // failed is a mistake of the definition.
                if failure.code != &code::PAYLOAD_UNKNOWN {
                    warnings.push(failure.message);
                }
                value
            }
        };
        let mut fields = Json::Object(serde_json::Map::new());
        for mapping in &self.model.field_mappings {
            let Some(id) = mapping.extraction.as_deref() else { continue };
            let path = mapping.path.join(".");
            // Written `helpers.ID` or just `ID`.
            let Some(helper) =
                self.function(FunctionRole::Helper, id.strip_prefix("helpers.").unwrap_or(id))
            else {
                warnings.push(format!("the field `{path}` names `{id}`, which is not a helper"));
                continue;
            };
            let name = mapping.path.last().cloned().unwrap_or_default();
            // `data` and `response` are the same: definitions in the wild read either.
            let given = json!({
                "data": data, "response": data, "fieldName": name, "structure": mapping.structure,
            });
            match runner.run(helper, &function_input(FunctionRole::Helper, &given)).await {
                // The field is not in this result.
                Ok(Json::Null) => {}
                Ok(field) => insert_at(&mut fields, &mapping.path, field),
                // Without a sandbox every further helper would fail in the same way.
                Err(failure) if failure.code == &code::SANDBOX_FAILED => return Err(failure),
                Err(failure) => {
                    warnings.push(format!("the field `{path}` was not found: {}", failure.message))
                }
            }
        }
        Ok(ExtractedPayload { data: data.clone(), fields, warnings })
    }

    /// The data of a result: where the first payload schema that fits says it is. Helpers that
    /// detect a payload run only if no schema before theirs fits.
    async fn payload<'v>(
        &self,
        value: &'v Json,
        runner: FunctionRunner<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<&'v Json, Failure> {
        let schemas = &self.model.payload_schemas;
        if schemas.is_empty() {
            return Ok(value);
        }
        let unknown =
            |error: payload::PayloadError| Failure::new(&code::PAYLOAD_UNKNOWN, error.to_string());
        for schema in schemas {
            let fits = match payload::parse_detection(schema) {
                // Prose, for readers only.
                None => false,
                Some(Detection::Helper { id }) => match self.function(FunctionRole::Helper, &id) {
                    Some(helper) => {
                        runner.run(helper, &function_input(FunctionRole::Helper, value)).await?
                            == json!(true)
                    }
                    None => {
                        warnings.push(format!(
                            "a payload is detected by `helpers.{id}`, which does not exist"
                        ));
                        false
                    }
                },
                Some(detection) => payload::fits(&detection, value),
            };
            if fits {
                return payload::data(schema, value).map_err(unknown);
            }
        }
        Err(unknown(payload::unknown_shape(schemas)))
    }
}

/// Puts a value where a path of names leads, and makes the objects on the way.
fn insert_at(fields: &mut Json, path: &[String], value: Json) {
    let Some((last, above)) = path.split_last() else { return };
    let mut object = fields;
    for name in above {
        if !object[name].is_object() {
            object[name] = json!({});
        }
        object = &mut object[name];
    }
    object[last] = value;
}
