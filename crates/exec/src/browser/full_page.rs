//! Runs a body in the page itself, for a tool that declares `page:full` and was granted it. There
//! it can do whatever the page can: no other capability holds it, and the page sees it. Its limits
//! of time and output still hold: a body that does not end takes its page with it.
//!
//! The body is put into a frame of JavaScript (`full_page.js`), which gives it its arguments,
//! catches its exceptions and turns the result into text. All of it can be seen and changed by the
//! page, so the result is as trustworthy as the page.

use toolwright_browser::{PageError, PageErrorCode};
use toolwright_model::{Capability, Tool};
use toolwright_sandbox::SandboxErrorCode;

use super::worker_body::read_result;
use super::{AFTER_DEADLINE, PageAccess, failure_of_operation};
use crate::js::{BTCP_CLASS, failure_of_body};
use crate::knowledge::KnowledgeFunction;
use crate::offload::{WorkSize, offload};
use crate::{Call, ExecutorContext, Failure, Outcome, code};

/// What surrounds the statements of a body.
const FRAME: &str = include_str!("full_page.js");

/// Whether a tool asks for the page itself.
pub(super) fn is_declared(tool: &Tool) -> bool {
    tool.needs.iter().any(Capability::is_full_page)
}

/// Runs a body in a page of this origin.
///
/// # Errors
/// NOT_RUNNABLE for a body that cannot be a function, such as one with imports; otherwise the
/// failure of the body or of the page.
pub(super) async fn run(
    page: &dyn PageAccess,
    origin: &str,
    body: &KnowledgeFunction,
    call: &Call<'_>,
    context: &ExecutorContext,
) -> Result<Outcome, Failure> {
    let name = &call.tool.name;
    let analyzer = context.analyzer.as_ref();
    let Some(statements) = body.as_function(analyzer).await else {
        let message =
            format!("the body of `{name}` cannot be run in a page: it has errors, or imports");
        return Err(Failure::new(&code::NOT_RUNNABLE, message));
    };
    let limit = call.budget.output;
    let given = serde_json::Value::from(call.arguments.shared().to_string());
    let code = FRAME
        // From the end: what is put in has no place in front of it that is still to be filled.
        .replacen("LIMIT", &limit.to_string(), 1)
        .replacen("BODY", &statements, 1)
        .replacen("BTCP_CLASS", BTCP_CLASS, 1)
        .replacen("GIVEN", &given.to_string(), 1);
    let within = call.budget.remaining() + AFTER_DEADLINE;
    let text = page
        .run_in_page(&code, origin, within)
        .await
        .map_err(|error| failed(name.as_str(), &error))?;
    match read_result(&text, limit) {
        Ok(output) => {
            let value = output.value;
            Ok(offload(WorkSize::of(&value), move || Outcome::value_of(value)).await)
        }
        Err(mut error) => {
            // Positions are those of the page.
            error.trace = Box::default();
            if error.code == SandboxErrorCode::Timeout {
                error.code = SandboxErrorCode::Threw;
            }
            Err(failure_of_body(body, &body.locate(error, None).await))
        }
    }
}

fn failed(name: &str, error: &PageError) -> Failure {
    let message = match error.code {
        PageErrorCode::OtherOrigin => format!("`{name}` was not run: {error}"),
        _ => format!("`{name}`: {error}"),
    };
    failure_of_operation(error.code, message)
}
