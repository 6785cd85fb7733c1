//! What a toolset knows, at work around its calls: checks and validators before them, processors on
//! arguments and results, and what was learnt from earlier mistakes for a call that is refused.
//!
//! `code` runs one function, `judge` is what comes before a call, `respond` what comes behind it,
//! `payload` tells the shapes of an answer apart and `advice` finds the lesson that fits a mistake.

mod advice;
mod code;
mod judge;
mod payload;
mod respond;

use std::collections::HashMap;
use std::sync::Arc;

use toolwright_model::{Knowledge as Model, ProcessorStage};

pub use code::{Code, Role, Show, cause, guest_limits, input};
pub use judge::{Judged, SLOW, read_verdict};
pub(crate) use respond::Bench;
pub use toolwright_model::FunctionLimits;

use crate::{Json, KnowledgeAdvice};

/// What one toolset knows. Its functions are compiled when they are first needed.
pub struct Knowledge {
    model: Model,
    functions: HashMap<(Role, String), Arc<Code>>,
    /// In the order they are written, with the places of those that have no id filled in.
    validators: Vec<Arc<Code>>,
    processors: Vec<Arc<Code>>,
}

impl std::fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.functions.values()).finish()
    }
}

impl Knowledge {
    /// The knowledge of a definition; `show` tells how places of its functions are shown, by their
    /// list and their number in it. `None` if there is nothing in it that could work.
    pub fn new(model: Model, show: impl Fn(Role, usize) -> Option<Show>) -> Option<Knowledge> {
        let mut functions = HashMap::new();
        let mut code = |role, n: usize, function: &toolwright_model::Function| {
            let id = function.id.clone().unwrap_or_else(|| format!("#{}", n + 1));
            let source = function.code.clone().unwrap_or_default();
            let code = Arc::new(Code::function(role, id.clone(), source, show(role, n)));
            functions.entry((role, id)).or_insert_with(|| Arc::clone(&code));
            code
        };
        for (n, helper) in model.helpers.iter().enumerate() {
            code(Role::Helper, n, helper);
        }
        let processors = model.processors.iter().enumerate();
        let processors = processors
            .map(|(n, processor)| code(Role::Processor, n, &processor.function))
            .collect();
        let validators = model.validators.iter().enumerate();
        let validators = validators
            .map(|(n, validator)| code(Role::Validator, n, &validator.function))
            .collect();
        let empty =
            functions.is_empty() && model.anti_patterns.is_empty() && model.quirks.is_empty();
        (!empty).then_some(Knowledge { model, functions, validators, processors })
    }

    /// A function by its name.
    pub fn function(&self, role: Role, id: &str) -> Option<&Arc<Code>> {
        self.functions.get(&(role, id.to_owned()))
    }

    /// The names of all functions of a kind, in order.
    pub fn names(&self, role: Role) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .functions
            .keys()
            .filter(|(of, _)| *of == role)
            .map(|(_, id)| id.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether anything is done before a call of a command.
    pub fn judges(&self, command: &str) -> bool {
        self.model.validators.iter().any(|v| v.validates.as_deref() == Some(command))
    }

    /// Whether processors make the result of a command: then it need not be what a server says that
    /// it is.
    pub fn makes_result(&self, command: &str) -> bool {
        self.processors(command, ProcessorStage::Response).next().is_some()
    }

    fn processors(&self, command: &str, stage: ProcessorStage) -> impl Iterator<Item = &Arc<Code>> {
        let model = self.model.processors.iter().zip(&self.processors);
        model
            .filter(move |(p, _)| p.stage == stage && p.processes.as_deref() == Some(command))
            .map(|(_, code)| code)
    }

    /// What was learnt from earlier mistakes that fits this one.
    pub fn advice(
        &self,
        command: &str,
        arguments: &Json,
        errors: &[String],
    ) -> Vec<KnowledgeAdvice> {
        advice::fitting(&self.model, command, arguments, errors)
    }
}
