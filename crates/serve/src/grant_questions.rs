//! Asks the person behind a client whether a call may be made, by elicitation.
//!
//! Clients may answer such questions by themselves, so a client can give what ends with its
//! session: once, or for the session. What holds until it is revoked is granted on a terminal only.
//! A client that is asked in results (2026-07-28) has no session of its own, and can allow one
//! call. The key of such a question is random, so that it cannot be answered before it is asked.
//!
//! ```text
//! Runner: policy says Ask ─▶ CallHost::ask_grant ─▶ ask ─▶ elicitation/create ─▶ the client
//!                                                            │ accept + `decision`, else a no
//!                            GrantPolicy::record ◀── GrantAnswer
//! ```

use serde_json::{Value as Json, json};
use toolwright_exec::{GivenReason, GrantAnswer, GrantQuestion, Host, ServerRequest};

use crate::call_host::missing_capability;
use crate::handles::random_handle;

/// The answers that a client can give, and those that one without a session can give.
const OFFERED: [GrantAnswer; 3] = [GrantAnswer::Once, GrantAnswer::Session, GrantAnswer::No];
const OFFERED_ONCE: [GrantAnswer; 2] = [GrantAnswer::Once, GrantAnswer::No];

/// The member of the form that has the answer.
const MEMBER: &str = "decision";

/// Asks. Returns `None` if the client cannot show a form, or the configuration does not want it to
/// be asked. Anything but one of the offered answers is a no.
///
/// `None` is not a no: nobody was asked.
pub(crate) async fn ask(host: &dyn Host, question: &GrantQuestion) -> Option<GrantAnswer> {
    let offered: &[GrantAnswer] = if host.is_asked_in_results() { &OFFERED_ONCE } else { &OFFERED };
    let request = ServerRequest {
        key: Some(random_handle()),
        source: "toolwright".to_owned(),
        method: "elicitation/create".to_owned(),
        params: form(question, offered),
        withdrawal: GivenReason::default(),
    };
    let can_answer = missing_capability(&host.client_capabilities(), &request).is_none();
    if !question.may_elicit || !can_answer {
        return None;
    }
    let answer = host.ask(vec![request]).await.pop()?;
    Some(answer.map_or(GrantAnswer::No, |answer| read_answer(&answer, offered)))
}

/// The parameters of the request.
fn form(question: &GrantQuestion, offered: &[GrantAnswer]) -> Json {
    let words: Vec<&str> = offered.iter().map(|answer| answer.name()).collect();
    json!({
        "mode": "form",
        "message": text(question),
        "requestedSchema": {
            "type": "object",
            "properties": {
                MEMBER: {
                    "type": "string",
                    "title": "Allow this?",
                    "description": "once: this call; session: until this session ends; no: refuse",
                    "enum": words,
                },
            },
            "required": [MEMBER],
        },
    })
}

/// The question in plain words.
///
/// ```text
/// The agent `local` wants to call `notes:add`. The tools of `notes` may then:
/// - …what the capability means… (`dom:read`, low risk)
/// ```
fn text(question: &GrantQuestion) -> String {
    let GrantQuestion { agent, toolset, tool, capabilities, rules, arguments, .. } = question;
    let mut text = format!("The agent `{agent}` wants to call `{tool}`.");
    if !capabilities.is_empty() {
        let place = question.page_origin().map(|it| format!(" on {it}")).unwrap_or_default();
        text += &format!(" The tools of `{toolset}` may then{place}:");
        for capability in capabilities {
            let risk = capability.risk().name();
            text += &format!("\n- {} ({capability}, {risk} risk)", capability.meaning());
        }
    }
    if let Some(caution) = question.caution() {
        text += &format!("\n{caution}");
    }
    for rule in rules {
        text += &format!("\nThe configuration wants you to be asked: {}", rule.shown);
    }
    if let Some(arguments) = arguments {
        text += &format!("\nIts arguments: {arguments}");
    }
    text
}

/// The answer in the result of a client. A form that was declined or cancelled is a no.
///
/// So is an answer that was not offered, such as one that holds until it is revoked.
fn read_answer(result: &Json, offered: &[GrantAnswer]) -> GrantAnswer {
    let word = result.pointer(&format!("/content/{MEMBER}")).and_then(Json::as_str);
    let offered = offered.iter().copied().find(|answer| Some(answer.name()) == word);
    match result["action"] == "accept" {
        true => offered.unwrap_or(GrantAnswer::No),
        false => GrantAnswer::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_only_give_what_it_was_offered() {
        for (answer, expected) in [
            (json!({"action": "accept", "content": {"decision": "once"}}), GrantAnswer::Once),
            (json!({"action": "accept", "content": {"decision": "session"}}), GrantAnswer::Session),
            (json!({"action": "accept", "content": {"decision": "no"}}), GrantAnswer::No),
            (json!({"action": "accept", "content": {"decision": "always"}}), GrantAnswer::No),
            (json!({"action": "accept", "content": {"decision": ["once"]}}), GrantAnswer::No),
            (json!({"action": "accept", "content": {}}), GrantAnswer::No),
            (json!({"action": "accept"}), GrantAnswer::No),
            (json!({"action": "decline", "content": {"decision": "session"}}), GrantAnswer::No),
            (json!({"action": "cancel"}), GrantAnswer::No),
            (json!(null), GrantAnswer::No),
        ] {
            assert_eq!(read_answer(&answer, &OFFERED), expected, "{answer}");
        }
        let session = json!({"action": "accept", "content": {"decision": "session"}});
        assert_eq!(read_answer(&session, &OFFERED_ONCE), GrantAnswer::No);
    }
}
