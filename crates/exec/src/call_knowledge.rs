//! The functions of a definition around one call: validators and request processors before it,
//! response processors after it. The runner decides when they run, and within which budget.
//!
//! This joins three things that know nothing of each other: a definition (`knowledge`), the workers
//! that run its functions, and one call with its limits. It exists for one call, so what the
//! functions have used can be added up in it.

use std::sync::Arc;

use toolwright_model::CallLimits;
use toolwright_sandbox::WorkerPool;

use crate::knowledge::{FunctionRunner, KnowledgeBudget, RunnableKnowledge};
use crate::{
    Budget, CallAllowance, CallArguments, ExecutorContext, Failure, Json, KnowledgeAdvice, Outcome,
    RegisteredTool, ValueError, code,
};

/// The knowledge of a tool's toolset, applied to one call.
pub(crate) struct CallKnowledge<'a> {
    tool: &'a Arc<RegisteredTool>,
    knowledge: &'a Arc<RunnableKnowledge>,
    /// The name of the tool, which definitions call a command.
    command: &'a str,
    /// The id of the tool, for messages.
    id: String,
    context: &'a ExecutorContext,
    /// The workers that run its functions.
    ///
    /// `None` without a sandbox: every function then fails with SANDBOX_FAILED.
    pool: Option<WorkerPool>,
    limits: &'a CallLimits,
    /// What its functions have used in this call.
    pub(crate) usage: KnowledgeBudget,
}

impl<'a> CallKnowledge<'a> {
    /// `None` for a tool without knowledge: then these steps cost nothing.
    pub(crate) fn of(
        tool: &'a Arc<RegisteredTool>,
        context: &'a ExecutorContext,
        limits: &'a CallLimits,
        calls: &CallAllowance,
    ) -> Option<CallKnowledge<'a>> {
        tool.knowledge.as_ref().map(|knowledge| CallKnowledge {
            pool: context.pool_for(calls),
            tool,
            knowledge,
            command: tool.tool.name.as_str(),
            id: tool.id.to_string(),
            context,
            limits,
            usage: KnowledgeBudget::default(),
        })
    }

    /// Runs functions within this budget.
    fn functions<'b>(&'b self, budget: &'b Budget) -> FunctionRunner<'b> {
        FunctionRunner {
            tool: &self.id,
            pool: self.pool.as_ref(),
            analyzer: self.context.analyzer.as_ref(),
            limits: &self.limits.functions,
            log: &self.context.console,
            budget,
            usage: &self.usage,
        }
    }

    /// Whether request processors make the arguments that the tool gets.
    pub(crate) fn changes_arguments(&self) -> bool {
        self.knowledge.has_request_processors(self.command)
    }

    /// Runs the validators. Returns their warnings if all of them accept the arguments.
    ///
    /// # Errors
    /// VALIDATION_FAILED with everything that the validators have found, and the advice of the
    /// definition about it. A validator that is broken refuses the call too, since nobody can say
    /// that its arguments are right; the failure then blames the definition and not the caller.
    pub(crate) async fn validate(
        &self,
        arguments: &CallArguments,
        budget: &Budget,
    ) -> Result<Vec<String>, Failure> {
        let functions = self.functions(budget);
        let judged = self.knowledge.judge(self.command, arguments, functions).await;
        if let Some(failure) = judged.stopped {
            return Err(failure);
        }
        let warnings = judged.warnings.into_texts("warnings");
        if judged.errors.is_empty() {
            return Ok(warnings);
        }
        let errors = judged.errors.into_texts("errors");
        let (message, advice) = match judged.broken {
            // The caller did nothing wrong, so advice on correct calls would mislead.
            true => (
                format!("a validator of `{}` could not check the arguments", self.command),
                Vec::new(),
            ),
            false => {
                let (tool, arguments) = (Arc::clone(self.tool), arguments.clone());
                let mentioned = errors.clone();
                let find = move || advice(&tool, &arguments, &mentioned);
                let advice = self.tool.concurrency.run_expensive(find).await;
                (format!("the validators of `{}` refuse the arguments", self.command), advice)
            }
        };
        let errors = errors.into_iter().map(|message| ValueError { path: String::new(), message });
        let mut failure =
            // Warnings of validators go to the log only: beside errors they would distract.
            Failure::new(&code::VALIDATION_FAILED, message).detail(warnings.join("; "));
        failure.errors = errors.collect();
        failure.advice = advice.into();
        if judged.broken {
            failure =
                failure.suggest("the definition is at fault, not the call: fix the validator");
        }
        Err(failure)
    }

    /// Runs the request processors. Returns `None` if there are none, and then nothing was copied.
    ///
    /// # Errors
    /// PROCESSOR_FAILED, and the failures of the sandbox.
    pub(crate) async fn prepare(
        &self,
        arguments: &CallArguments,
        budget: &Budget,
    ) -> Result<Option<CallArguments>, Failure> {
        self.knowledge.prepare(self.command, arguments, self.functions(budget)).await
    }

    /// Runs the response processors and matches the payload schemas.
    ///
    /// # Errors
    /// PROCESSOR_FAILED, PAYLOAD_UNKNOWN, and the failures of the sandbox.
    pub(crate) async fn respond(
        &self,
        outcome: Outcome,
        budget: &Budget,
    ) -> Result<Outcome, Failure> {
        self.knowledge.respond(self.command, outcome, self.functions(budget)).await
    }
}

/// The definition's advice about these errors; empty if it has none.
pub(crate) fn advice(
    tool: &RegisteredTool,
    arguments: &Json,
    errors: &[String],
) -> Vec<KnowledgeAdvice> {
    let knowledge = tool.knowledge.as_ref();
    knowledge
        .map(|knowledge| knowledge.advice(tool.tool.name.as_str(), arguments, errors))
        .unwrap_or_default()
}
