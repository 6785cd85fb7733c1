//! The knowledge of a toolset, applied to its calls: checks and validators before a call,
//! processors on arguments and results, and the definition's own advice for a call that was
//! refused.
//!
//! ```text
//! arguments ─▶ validators ─▶ processors ─▶ the call ─▶ payload,  ─▶ processors  ─▶ result
//!                  │         (request)                 fields       (response)
//!                  └─ refused ─▶ advice_matching
//! ```
//!
//! - `function` runs one function and locates its errors in the file; `limits` is what it may use.
//! - `helper_object` lets functions call helpers.
//! - `knowledge_budget` counts what all functions of a call use together.
//! - `validators` runs before a call, `processors` around it.
//! - `payload` tells the shapes of an answer apart.
//! - `advice_matching` finds the anti-pattern and the quirk that fit a refusal.
//! - `field_formats` compares arguments and results with the formats of `field_mappings`.
//!
//! What is not here: reading definitions (`formats`), the engine (`sandbox`), and the order of the
//! steps of a call, which is the runner's.

mod advice_matching;
mod field_formats;
mod function;
mod helper_object;
mod knowledge_budget;
mod limits;
mod payload;
mod processors;
mod validators;

use std::collections::HashMap;
use std::sync::Arc;

use toolwright_model::{CommandNames, Knowledge, KnowledgeStrategy, ProcessorStage};

pub use function::{
    ErrorLocation, FileLocation, FunctionError, FunctionRole, KnowledgeFunction, LocationFormatter,
    function_input,
};
pub use knowledge_budget::KnowledgeBudget;
pub use limits::guest_limits;
pub use processors::FunctionRunner;
pub(crate) use processors::too_large;
/// The share of the sandbox that the functions of one toolset use together.
pub use toolwright_sandbox::ShareId;
pub use validators::{SLOW_VALIDATOR, ValidatorAnswer, ValidatorVerdict, read_validator_answer};

use crate::{Json, KnowledgeAdvice};
use payload::PayloadMatcher;

/// The knowledge of one toolset, shared by all of its tools. Functions are compiled when they are
/// first needed.
pub struct RunnableKnowledge {
    model: Knowledge,
    /// The names of all tools of the toolset.
    commands: CommandNames,
    /// By role and id. If several have the same id, the first one counts.
    functions: HashMap<(FunctionRole, String), Arc<KnowledgeFunction>>,
    /// In the order of the definition, which is the order in which they run; parallel to
    /// `model.validators`.
    validators: Vec<Arc<KnowledgeFunction>>,
    /// In the order of the definition; parallel to `model.processors`.
    processors: Vec<Arc<KnowledgeFunction>>,
    /// The payload schemas, in the order of the definition.
    payloads: Vec<PayloadMatcher>,
}

impl std::fmt::Debug for RunnableKnowledge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.functions.values()).finish()
    }
}

impl RunnableKnowledge {
    /// The knowledge of a definition. `formatter` returns the formatter for the positions of one
    /// function, by its role and its index in the list of that role.
    ///
    /// `None` if the definition has neither functions nor prose, so that its calls skip all of
    /// this. `commands` are the names of its tools.
    pub fn new(
        model: Knowledge,
        commands: CommandNames,
        formatter: impl Fn(FunctionRole, usize) -> Option<LocationFormatter>,
    ) -> Option<RunnableKnowledge> {
        let share = ShareId::new();
        let helpers = helper_object::prelude(&model);
        let mut functions = HashMap::new();
        let mut add = |role, n: usize, function: &toolwright_model::Function| {
            let id = function.id.clone().unwrap_or_else(|| format!("#{}", n + 1));
            let source = function.code.as_deref().unwrap_or_default();
            let formatter = formatter(role, n);
            let runnable = KnowledgeFunction::function(role, id.clone(), source, share, formatter)
                .with_helpers(&helpers);
            let function = Arc::new(match function.foreign_language() {
                Some(language) => runnable.in_foreign_language(language),
                None => runnable,
            });
            functions.entry((role, id)).or_insert_with(|| Arc::clone(&function));
            function
        };
        for (n, helper) in model.helpers.iter().enumerate() {
            add(FunctionRole::Helper, n, helper);
        }
        let processors = model.processors.iter().enumerate();
        let processors = processors
            .map(|(n, processor)| add(FunctionRole::Processor, n, &processor.function))
            .collect();
        let validators = model.validators.iter().enumerate();
        let validators = validators
            .map(|(n, validator)| add(FunctionRole::Validator, n, &validator.function))
            .collect();
        let is_empty = functions.is_empty()
            && model.anti_patterns.is_empty()
            && model.quirks.is_empty()
            && model.payload_schemas.is_empty()
            && model.field_mappings.is_empty()
            && model.strategy == KnowledgeStrategy::default();
        let payloads = model.payload_schemas.iter().map(PayloadMatcher::new).collect();
        (!is_empty).then_some(RunnableKnowledge {
            model,
            commands,
            functions,
            validators,
            processors,
            payloads,
        })
    }

    /// The knowledge as the definition has it.
    pub fn model(&self) -> &Knowledge {
        &self.model
    }

    /// The names of all tools of the toolset.
    pub fn commands(&self) -> &CommandNames {
        &self.commands
    }

    /// A function by its id.
    pub fn function(&self, role: FunctionRole, id: &str) -> Option<&Arc<KnowledgeFunction>> {
        self.functions.get(&(role, id.to_owned()))
    }

    /// The ids of all functions of a role, sorted.
    pub fn names(&self, role: FunctionRole) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .functions
            .keys()
            .filter(|(of, _)| *of == role)
            .map(|(_, id)| id.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether the command has validators.
    pub fn has_validators(&self, command: &str) -> bool {
        self.model.validators.iter().any(|v| v.validates.as_deref() == Some(command))
    }

    /// Whether processors make the result of a command. Then the output schema that the command's
    /// server declares does not apply to it.
    pub fn makes_result(&self, command: &str) -> bool {
        self.processors(command, ProcessorStage::Response).next().is_some()
    }

    /// The processors of a command at a stage, in the order in which they run.
    fn processors(
        &self,
        command: &str,
        stage: ProcessorStage,
    ) -> impl Iterator<Item = &Arc<KnowledgeFunction>> {
        let model = self.model.processors.iter().zip(&self.processors);
        model
            .filter(move |(p, _)| p.stage == stage && p.processes.as_deref() == Some(command))
            .map(|(_, function)| function)
    }

    /// Whether processors change the arguments of this command.
    pub(crate) fn has_request_processors(&self, command: &str) -> bool {
        self.processors(command, ProcessorStage::Request).next().is_some()
    }

    /// For each of these errors, the definition's anti-pattern and quirk about the same mistake, at
    /// most six in all. Takes up to a tenth of a second with the longest lists of lessons.
    pub fn advice(
        &self,
        command: &str,
        arguments: &Json,
        errors: &[String],
    ) -> Vec<KnowledgeAdvice> {
        advice_matching::find_advice(&self.model, (command, &self.commands), arguments, errors)
    }
}
