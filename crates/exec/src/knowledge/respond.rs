//! Processors on a call: on its arguments just before it, and on its result. What a result says is
//! told apart by the payload schemas, and fields with a structure of their own are got out by their
//! helpers.

use serde_json::json;
use toolwright_model::{Detection, ProcessorStage};
use toolwright_sandbox::{ProgramInput, SandboxErrorCode, WorkerPool};

use super::{Code, FunctionLimits, Knowledge, Role, guest_limits, input, payload};
use crate::{Failure, Json, Log, Outcome, code};

/// Characters of a value in a message.
const SHOWN: usize = 120;

/// A value as a message shows it.
pub(super) fn shown(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}

/// What functions run in, with which limits, and where their `console` goes.
#[derive(Clone, Copy)]
pub(crate) struct Bench<'a> {
    pub(crate) pool: Option<&'a WorkerPool>,
    pub(crate) limits: &'a FunctionLimits,
    pub(crate) log: &'a Log,
}

impl Bench<'_> {
    /// Runs a function that was asked for by a processor, or is one.
    async fn run(&self, code: &Code, input: &ProgramInput) -> Result<Json, Failure> {
        let Some(pool) = self.pool else {
            return Err(Failure::new(
                &code::SANDBOX_FAILED,
                format!("{code:?} cannot run: there is no sandbox"),
            ));
        };
        let result = code.run(pool, input, &guest_limits(self.limits, code.role), None).await;
        let said = result.as_ref().map_or_else(|error| &*error.log, |output| output.log.as_slice());
        code.log(said, self.log);
        result.map(|output| output.value).map_err(|error| match error.code {
            SandboxErrorCode::StartFailed | SandboxErrorCode::WorkerDied => {
                Failure::new(&code::SANDBOX_FAILED, code.explain(&error))
            }
            _ => Failure::new(&code::PROCESSOR_FAILED, code.explain(&error)),
        })
    }
}

/// A result, taken apart.
struct Taken {
    data: Json,
    fields: Json,
    warnings: Vec<String>,
}

impl Knowledge {
    /// The arguments as the processors of the request make them; `None` if there are no such
    /// processors.
    pub(crate) async fn prepare(
        &self,
        command: &str,
        arguments: &Json,
        bench: Bench<'_>,
    ) -> Result<Option<Json>, Failure> {
        let mut prepared = None;
        for code in self.processors(command, ProcessorStage::Request) {
            let given = input(Role::Processor, prepared.as_ref().unwrap_or(arguments));
            let value = bench.run(code, &given).await?;
            if !value.is_object() {
                let what =
                    format!("{code:?} made {} of the arguments, not an object", shown(&value));
                return Err(Failure::new(&code::PROCESSOR_FAILED, what));
            }
            prepared = Some(value);
        }
        Ok(prepared)
    }

    /// The result as the processors of the response make it, with the fields that helpers got out
    /// of it.
    pub(crate) async fn respond(
        &self,
        command: &str,
        mut outcome: Outcome,
        bench: Bench<'_>,
    ) -> Result<Outcome, Failure> {
        let mut processors = self.processors(command, ProcessorStage::Response).peekable();
        let extracts = self.model.field_mappings.iter().any(|mapping| mapping.extraction.is_some());
        if outcome.is_error || (processors.peek().is_none() && !extracts) {
            return Ok(outcome);
        }
        let value = outcome.value();
        let Taken { data, fields, warnings } =
            self.take_apart(&value, processors.peek().is_some(), bench).await?;
        outcome.warnings.extend(warnings);
        if fields.as_object().is_some_and(|fields| !fields.is_empty()) {
            let mut meta = match outcome.meta.take() {
                Some(Json::Object(meta)) => meta,
                _ => serde_json::Map::new(),
            };
            meta.insert("toolwright/fields".to_owned(), fields.clone());
            outcome.meta = Some(Json::Object(meta));
        }
        let mut processed = None;
        for code in processors {
            let mut given = input(Role::Processor, processed.as_ref().unwrap_or(&data));
            given.globals = vec![("fields".to_owned(), fields.clone())];
            processed = Some(bench.run(code, &given).await?);
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

    /// The data in a result, and the fields in that. Where nobody processes it, a shape that is not
    /// known is none of our business.
    async fn take_apart(
        &self,
        value: &Json,
        processed: bool,
        bench: Bench<'_>,
    ) -> Result<Taken, Failure> {
        let mut warnings = Vec::new();
        let data = match self.payload(value, bench, &mut warnings).await {
            Ok(data) => data,
            Err(failure) if processed => return Err(failure),
            Err(failure) => {
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
            let Some(helper) =
                self.function(Role::Helper, id.strip_prefix("helpers.").unwrap_or(id))
            else {
                warnings.push(format!("the field `{path}` names `{id}`, which is no helper"));
                continue;
            };
            let name = mapping.path.last().cloned().unwrap_or_default();
            let given = json!({
                "data": data, "response": data, "fieldName": name, "structure": mapping.structure,
            });
            match bench.run(helper, &input(Role::Helper, &given)).await {
                Ok(Json::Null) => {}
                Ok(field) => put(&mut fields, &mapping.path, field),
                Err(failure) if failure.code == &code::SANDBOX_FAILED => return Err(failure),
                Err(failure) => {
                    warnings.push(format!("the field `{path}` was not found: {}", failure.message))
                }
            }
        }
        Ok(Taken { data: data.clone(), fields, warnings })
    }

    /// The data of a result, by the first shape that fits; helpers are asked when it is their turn.
    async fn payload<'v>(
        &self,
        value: &'v Json,
        bench: Bench<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<&'v Json, Failure> {
        let schemas = &self.model.payload_schemas;
        if schemas.is_empty() {
            return Ok(value);
        }
        let unknown =
            |error: payload::PayloadError| Failure::new(&code::PAYLOAD_UNKNOWN, error.to_string());
        for schema in schemas {
            let fits = match payload::test_of(schema) {
                None => false,
                Some(Detection::Helper { id }) => match self.function(Role::Helper, &id) {
                    Some(helper) => {
                        bench.run(helper, &input(Role::Helper, value)).await? == json!(true)
                    }
                    None => {
                        warnings.push(format!(
                            "a payload is told by `helpers.{id}`, which does not exist"
                        ));
                        false
                    }
                },
                Some(test) => payload::fits(&test, value),
            };
            if fits {
                return payload::data(schema, value).map_err(unknown);
            }
        }
        Err(unknown(payload::unknown(schemas)))
    }
}

/// Puts a value where a path of names leads.
fn put(fields: &mut Json, path: &[String], value: Json) {
    let Some((last, above)) = path.split_last() else { return };
    let mut place = fields;
    for name in above {
        if !place[name].is_object() {
            place[name] = json!({});
        }
        place = &mut place[name];
    }
    place[last] = value;
}
