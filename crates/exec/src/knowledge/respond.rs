//! Processors on a call: on its arguments just before it, and on its result. What a result says is told
//! apart by the payload schemas, and fields with a structure of their own are got out by their helpers.

use serde_json::json;
use toolwright_model::Stage;
use toolwright_sandbox::{Input, Pool};

use super::{Code, FunctionLimits, Knowledge, Role, find_payload, input, payload};
use crate::{Failure, Json, Outcome, code};

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

/// What functions run in, and with which limits.
#[derive(Clone, Copy)]
pub(crate) struct Bench<'a> {
    pub(crate) pool: Option<&'a Pool>,
    pub(crate) limits: &'a FunctionLimits,
}

impl Bench<'_> {
    async fn run(&self, code: &Code, input: &Input) -> Result<Json, String> {
        let Some(pool) = self.pool else {
            return Err(format!("{code:?} cannot run: there is no sandbox"));
        };
        match code.run(pool, input, &self.limits.of(code.role), None).await {
            Ok(output) => Ok(output.value),
            Err(error) => Err(code.explain(&error)),
        }
    }
}

/// A result, taken apart.
struct Taken {
    data: Json,
    fields: Json,
    warnings: Vec<String>,
}

impl Knowledge {
    /// The arguments as the processors of the request make them; `None` if there are no such processors.
    pub(crate) async fn prepare(
        &self,
        command: &str,
        arguments: &Json,
        bench: Bench<'_>,
    ) -> Result<Option<Json>, Failure> {
        let mut prepared = None;
        for code in self.processors(command, Stage::Request) {
            let given = input(Role::Processor, prepared.as_ref().unwrap_or(arguments));
            let value = bench.run(code, &given).await.map_err(processor_failed)?;
            if !value.is_object() {
                let what = format!("{code:?} made {} of the arguments, not an object", shown(&value));
                return Err(processor_failed(what));
            }
            prepared = Some(value);
        }
        Ok(prepared)
    }

    /// The result as the processors of the response make it, with the fields that helpers got out of it.
    pub(crate) async fn respond(
        &self,
        command: &str,
        mut outcome: Outcome,
        bench: Bench<'_>,
    ) -> Result<Outcome, Failure> {
        let mut processors = self.processors(command, Stage::Response).peekable();
        let extracts = self.model.field_mappings.iter().any(|mapping| mapping.extraction.is_some());
        if outcome.is_error || (processors.peek().is_none() && !extracts) {
            return Ok(outcome);
        }
        let value = outcome.value();
        let Taken { data, fields, warnings } =
            self.take_apart(&value, processors.peek().is_some(), bench).await?;
        outcome.warnings.extend(warnings);
        if fields.as_object().is_some_and(|fields| !fields.is_empty()) {
            let meta = outcome.meta.get_or_insert_with(|| json!({}));
            meta["toolwright/fields"] = fields.clone();
        }
        let mut processed = None;
        for code in processors {
            let mut given = input(Role::Processor, processed.as_ref().unwrap_or(&data));
            given.globals = vec![("fields".to_owned(), fields.clone())];
            processed = Some(bench.run(code, &given).await.map_err(processor_failed)?);
        }
        Ok(match processed {
            Some(value) => {
                Outcome { meta: outcome.meta, warnings: outcome.warnings, ..Outcome::value_of(value) }
            }
            None => outcome,
        })
    }

    /// The data in a result, and the fields in that. Where nobody processes it, a shape that is not known is
    /// none of our business.
    async fn take_apart(&self, value: &Json, processed: bool, bench: Bench<'_>) -> Result<Taken, Failure> {
        let schemas = &self.model.payload_schemas;
        let mut knowing = Vec::new();
        for id in payload::helpers(schemas) {
            if let Some(helper) = self.function(Role::Helper, id)
                && bench.run(helper, &input(Role::Helper, value)).await.map_err(processor_failed)?
                    == json!(true)
            {
                knowing.push(id);
            }
        }
        let data = match find_payload(schemas, value, |id| knowing.contains(&id)) {
            _ if schemas.is_empty() => value,
            Ok(data) => data,
            Err(error) if processed => {
                return Err(Failure::new(&code::PAYLOAD_UNKNOWN, error.to_string()));
            }
            Err(_) => value,
        };
        let mut taken = Taken { data: data.clone(), fields: json!({}), warnings: Vec::new() };
        for mapping in &self.model.field_mappings {
            let Some(id) = mapping.extraction.as_deref() else { continue };
            let Some(helper) = self.function(Role::Helper, id.strip_prefix("helpers.").unwrap_or(id)) else {
                taken
                    .warnings
                    .push(format!("the field `{}` names `{id}`, which is no helper", mapping.path.join(".")));
                continue;
            };
            let name = mapping.path.last().cloned().unwrap_or_default();
            let given = json!({
                "data": data, "response": data, "fieldName": name, "structure": mapping.structure,
            });
            match bench.run(helper, &input(Role::Helper, &given)).await {
                Ok(Json::Null) => {}
                Ok(field) => taken.fields[&name] = field,
                Err(why) => taken.warnings.push(format!("the field `{name}` was not found: {why}")),
            }
        }
        Ok(taken)
    }
}

fn processor_failed(why: String) -> Failure {
    Failure::new(&code::PROCESSOR_FAILED, why)
}
