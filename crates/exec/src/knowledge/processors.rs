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
//!
//! All functions share the time of the call, and what they return counts against its output limit.
//! Large values are copied on other threads (`offload`).

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright_model::{Detection, FunctionLimits, ProcessorStage};
use toolwright_sandbox::{GuestLimits, ProgramInput, ProgramOutput, SandboxErrorCode, WorkerPool};
use toolwright_script::ScriptAnalyzer;

use super::field_formats;
use super::payload::{self, PayloadData};
use super::{
    FunctionError, FunctionRole, KnowledgeBudget, KnowledgeFunction, RunnableKnowledge,
    function_input, guest_limits,
};
use crate::capped_texts::shorten_json;
use crate::offload::{WorkSize, offload};
use crate::outcome::json_size;
use crate::{Budget, CallArguments, CappedTexts, Failure, Json, Log, Outcome, code};

/// The most characters of a value that a message quotes.
const MAX_QUOTED: usize = 120;
/// How much longer than the call its functions may run by the clock, so that the runner's deadline
/// comes first. It is for the worker, which must not go on after that.
const AFTER_DEADLINE: Duration = Duration::from_secs(1);

/// A value in backticks for a message, cut if it is long.
pub(super) fn quote_shortened(value: &Json) -> String {
    format!("`{}`", shorten_json(value, MAX_QUOTED))
}

/// Everything that running the functions of a definition needs. Borrowed from the runner for one
/// call.
#[derive(Clone, Copy)]
pub struct FunctionRunner<'a> {
    /// The id of the tool, for messages.
    pub tool: &'a str,
    /// The workers. Without them, every function fails with SANDBOX_FAILED.
    pub pool: Option<&'a WorkerPool>,
    /// Locates syntax errors. Without it, they are reported where the engine noticed them.
    pub analyzer: Option<&'a Arc<dyn ScriptAnalyzer>>,
    /// What each function may use, within what is left of the call.
    pub limits: &'a FunctionLimits,
    /// Takes what functions write to `console`.
    pub log: &'a Log,
    /// Time and output of the call. All its functions share them.
    pub budget: &'a Budget,
    /// What the functions of the call have used.
    pub usage: &'a KnowledgeBudget,
}

/// Why a function gave no result.
pub(super) enum RunFailure {
    /// The call cannot go on, whatever the function: there is no worker, or no time left.
    Call(Failure),
    /// The function failed.
    Function(FunctionError),
}

impl FunctionRunner<'_> {
    /// Runs a function within its own limits and what is left of the call.
    ///
    /// The limits of the function and what is left of the call: the smaller one holds. A function
    /// that had less than its own time and ran out of it is reported as a timeout of the call.
    pub(super) async fn execute(
        &self,
        function: &KnowledgeFunction,
        input: &ProgramInput,
    ) -> Result<ProgramOutput, RunFailure> {
        let Some(pool) = self.pool else {
            let message = format!("{function:?} cannot run: there is no sandbox");
            return Err(RunFailure::Call(Failure::new(&code::SANDBOX_FAILED, message)));
        };
        let out_of_time = || RunFailure::Call(self.usage.timeout(self.tool, self.budget));
        // The runner stops the call at its deadline, but only where a task waits. Functions that
        // fail at once, such as those that do not compile, never wait.
        let left = self.budget.remaining();
        if left.is_zero() {
            return Err(out_of_time());
        }
        let own = guest_limits(self.limits, function.role);
        let limits = GuestLimits {
            cpu: own.cpu.min(left),
            wall: own.wall.min(left + AFTER_DEADLINE),
            output: own.output.min(self.budget.output),
            ..own
        };
        self.usage.begin(function);
        let result = function.run(pool, self.analyzer, input, &limits, None).await;
        self.usage.end();
        let log = result.as_ref().map_or_else(|error| &*error.error.log, |output| &*output.log);
        self.usage.log_console(function, log, self.log);
        result.map_err(|failure| match failure.error.code {
            SandboxErrorCode::StartFailed => {
                RunFailure::Call(Failure::new(&code::SANDBOX_FAILED, failure.error.message))
            }
            SandboxErrorCode::Busy => {
                RunFailure::Call(Failure::new(&code::BUSY, failure.error.message))
            }
            // It had less than its own time, so the call's time ended it.
            SandboxErrorCode::Timeout if left < own.cpu => out_of_time(),
            _ => RunFailure::Function(failure),
        })
    }

    /// Runs a processor, or a helper for one. A failure is that of the call: PROCESSOR_FAILED, or
    /// SANDBOX_FAILED if the code is not at fault.
    async fn run(
        &self,
        function: &KnowledgeFunction,
        input: &ProgramInput,
    ) -> Result<Json, Failure> {
        match self.execute(function, input).await {
            Ok(output) => Ok(output.value),
            Err(RunFailure::Call(failure)) => Err(failure),
            Err(RunFailure::Function(failure)) => {
                let code = match failure.error.code {
                    SandboxErrorCode::WorkerDied => &code::SANDBOX_FAILED,
                    _ => &code::PROCESSOR_FAILED,
                };
                Err(Failure::new(code, function.explain(&failure)))
            }
        }
    }
}

/// Whether a failure is that of one function, so that the call can go on without its result.
fn is_of_function(failure: &Failure) -> bool {
    failure.code == &code::PROCESSOR_FAILED
}

/// What was found in the result of a call.
struct ExtractedPayload {
    /// The part of the result that processors work on.
    data: PayloadData,
    /// The fields that helpers extracted, nested as their paths say.
    fields: Json,
    warnings: CappedTexts,
}

impl RunnableKnowledge {
    /// The arguments after the processors of the request, each of which gets the result of the one
    /// before. `None` if the command has no such processors: then the caller's arguments are sent,
    /// and nothing is copied.
    pub(crate) async fn prepare(
        &self,
        command: &str,
        arguments: &CallArguments,
        runner: FunctionRunner<'_>,
    ) -> Result<Option<CallArguments>, Failure> {
        let mut prepared: Option<CallArguments> = None;
        for function in self.processors(command, ProcessorStage::Request) {
            let given = prepared.as_ref().unwrap_or(arguments);
            let input = function_input(FunctionRole::Processor, given.shared());
            let value = runner.run(function, &input).await?;
            // Every executor sends arguments as an object, so any other value would fail later and
            // without naming the processor.
            if !value.is_object() {
                let what = format!(
                    "{function:?} turned the arguments into {}, which is not an object",
                    quote_shortened(&value)
                );
                return Err(Failure::new(&code::PROCESSOR_FAILED, what));
            }
            prepared = Some(value.into());
        }
        Ok(prepared)
    }

    /// The result after the processors of the response. Fields that helpers extracted are under
    /// `toolwright/fields` in its metadata. An error result is left alone: it has another shape.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        command: &str,
        outcome: Outcome,
        runner: FunctionRunner<'_>,
    ) -> Result<Outcome, Failure> {
        let mut processors = self.processors(command, ProcessorStage::Response).peekable();
        // Fields are extracted, or compared with their structure.
        let has_fields = !self.model.field_mappings.is_empty();
        if outcome.is_error || (processors.peek().is_none() && !has_fields) {
            return Ok(outcome);
        }
        // Without processors the result stays as it is, and only the metadata is added.
        let size = outcome.work_size();
        let (mut outcome, value) = offload(size, move || {
            let value = outcome.value();
            (outcome, value)
        })
        .await;
        let ExtractedPayload { data, fields, warnings } =
            self.extract_payload(value, size, processors.peek().is_some(), runner).await?;
        outcome.warnings.extend(warnings.into_texts("warnings"));
        let fields = Arc::new(fields);
        if fields.as_object().is_some_and(|fields| !fields.is_empty()) {
            // A server may send metadata that is not an object; it cannot be extended and is
            // dropped.
            let mut meta = match outcome.meta.take() {
                Some(Json::Object(meta)) => meta,
                _ => serde_json::Map::new(),
            };
            let copy = {
                let fields = Arc::clone(&fields);
                move || (*fields).clone()
            };
            let copy = offload(WorkSize::of(&fields), copy).await;
            meta.insert("toolwright/fields".to_owned(), copy);
            outcome.meta = Some(Json::Object(meta));
        }
        let mut processed: Option<PayloadData> = None;
        for function in processors {
            let given = processed.as_ref().unwrap_or(&data).clone();
            let size = WorkSize::of(given.get());
            let fields = Arc::clone(&fields);
            let copy = move || {
                let mut input = function_input(FunctionRole::Processor, given.get().clone());
                // Instead of the empty `fields` that every processor has.
                input.globals = vec![("fields".to_owned(), fields)];
                input
            };
            let value = runner.run(function, &offload(size, copy).await).await?;
            processed = Some(PayloadData::whole(value));
        }
        let Some(processed) = processed else { return Ok(outcome) };
        let (meta, warnings) = (outcome.meta.take(), std::mem::take(&mut outcome.warnings));
        let size = WorkSize::of(processed.get());
        // The old result is dropped there, too.
        let result = offload(size, move || {
            drop((outcome, data));
            Outcome::value_of(processed.into_value())
        });
        Ok(Outcome { meta, warnings, ..result.await })
    }

    /// Finds the data in a result, and the fields in the data. A result of an unknown shape is a
    /// failure only if processors depend on it (`is_processed`). `size` is that of the result.
    ///
    /// `field_bytes` counts against the output limit of the call as a whole, so many small fields
    /// are as limited as one large one.
    async fn extract_payload(
        self: &Arc<Self>,
        value: Json,
        size: WorkSize,
        is_processed: bool,
        runner: FunctionRunner<'_>,
    ) -> Result<ExtractedPayload, Failure> {
        let mut warnings = CappedTexts::default();
        let whole = PayloadData::whole(value);
        let data = match self.payload(&whole, size, runner, &mut warnings).await {
            Ok(data) => data,
            Err(failure) if is_processed => return Err(failure),
            // An unknown shape is normal here: not every answer has fields.
            Err(failure) if failure.code == &code::PAYLOAD_UNKNOWN => whole,
            // A helper that failed is a mistake of the definition.
            Err(failure) if is_of_function(&failure) => {
                warnings.push(&failure.message);
                whole
            }
            Err(failure) => return Err(failure),
        };
        field_formats::check_response(&self.model.field_mappings, data.get(), &mut warnings);
        let mut fields = Json::Object(serde_json::Map::new());
        let mut field_bytes = 0;
        for (n, mapping) in self.model.field_mappings.iter().enumerate() {
            let Some(id) = mapping.extraction.as_deref() else { continue };
            let path = mapping.path.join(".");
            // Written `helpers.ID` or just `ID`.
            let Some(helper) =
                self.function(FunctionRole::Helper, id.strip_prefix("helpers.").unwrap_or(id))
            else {
                warnings.push(&format!("the field `{path}` names `{id}`, which is not a helper"));
                continue;
            };
            let structure = mapping.structure.as_ref();
            let size = match structure.map_or(WorkSize::Small, WorkSize::of) {
                WorkSize::Small => size,
                WorkSize::Large => WorkSize::Large,
            };
            let (knowledge, given) = (Arc::clone(self), data.clone());
            // `data` and `response` are the same: definitions in the wild read either.
            let copy = move || {
                let mapping = &knowledge.model.field_mappings[n];
                let name = mapping.path.last().cloned().unwrap_or_default();
                let data = given.get();
                ProgramInput::args(json!({
                    "data": data, "response": data, "fieldName": name,
                    "structure": mapping.structure,
                }))
            };
            match runner.run(helper, &offload(size, copy).await).await {
                // The field is not in this result.
                Ok(Json::Null) => {}
                Ok(field) => {
                    // They are part of the answer, so they count before all of them are there.
                    field_bytes += json_size(&field, runner.budget.output);
                    if field_bytes > runner.budget.output {
                        return Err(too_large(runner.budget.output));
                    }
                    insert_at(&mut fields, &mapping.path, field);
                }
                Err(failure) if is_of_function(&failure) => {
                    warnings.push(&format!("the field `{path}` was not found: {}", failure.message))
                }
                // Every further helper would fail in the same way.
                Err(failure) => return Err(failure),
            }
        }
        Ok(ExtractedPayload { data, fields, warnings })
    }

    /// The data of a result: where the first payload schema that fits says it is. Helpers that
    /// detect a payload run only if no schema before theirs fits.
    async fn payload(
        &self,
        whole: &PayloadData,
        size: WorkSize,
        runner: FunctionRunner<'_>,
        warnings: &mut CappedTexts,
    ) -> Result<PayloadData, Failure> {
        if self.payloads.is_empty() {
            return Ok(whole.clone());
        }
        let unknown =
            |error: payload::PayloadError| Failure::new(&code::PAYLOAD_UNKNOWN, error.to_string());
        for matcher in &self.payloads {
            let fits = match &matcher.detection {
                // Prose, for readers only.
                None => false,
                Some(Detection::Helper { id }) => match self.function(FunctionRole::Helper, id) {
                    Some(helper) => {
                        let value = whole.clone();
                        let copy =
                            move || function_input(FunctionRole::Helper, value.get().clone());
                        runner.run(helper, &offload(size, copy).await).await? == json!(true)
                    }
                    None => {
                        warnings.push(&format!(
                            "a payload is detected by `helpers.{id}`, which does not exist"
                        ));
                        false
                    }
                },
                Some(detection) => payload::fits(detection, whole.get()),
            };
            if fits {
                return matcher.data(whole).map_err(unknown);
            }
        }
        Err(unknown(payload::unknown_shape(&self.payloads)))
    }
}

/// The failure of a result that is larger than the call allows.
pub(crate) fn too_large(cap: usize) -> Failure {
    let message = format!("the answer has more than the {cap} bytes that are allowed");
    Failure::new(&code::OUTPUT_TOO_LARGE, message)
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
