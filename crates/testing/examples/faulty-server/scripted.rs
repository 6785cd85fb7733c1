//! `faulty-server scripted FILE`: an MCP server on stdin and stdout whose messages are in a file,
//! so that a test can write down any answer, however wrong.
//!
//! The file is an object of methods. What a method is answered with:
//!
//! | member | meaning |
//! |---|---|
//! | `result`, `error` | the outcome; without either, there is no answer |
//! | `before` | messages that are sent before it; a string is sent as it is |
//! | `times` | how often those are sent, once by default |
//! | `after` | messages that follow the answer |
//! | `id` | the id of the answer, instead of that of the request; in a text, `$ID` is the latter |
//! | `padding` | a string of this many bytes, as the member `padding` of the result |
//! | `values` | a list of so many numbers, as `values` of the result; nothing follows |
//! | `then` | what the next request of this method is answered with; the last one repeats |
//!
//! The member `answered` of the file has the messages that follow every answer of the client to a
//! request of the server, as a list, or as `before` of an object with `then`. In all strings `$N`
//! is a number that grows with every message, so that a list can go on for ever, `$ID` in `before`
//! is the id of the request, and `$FF` is a byte that is not UTF-8. A method that the file does not
//! have is unknown. All that the client sends is appended to `FILE.log`. The file is read again
//! before every message.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use serde_json::{Value, json};

use toolwright_testing::actions::refuse;

pub(crate) fn serve(file: &str) {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| refuse(&format!("cannot read `{file}`: {error}")));
    let mut script: Value = serde_json::from_str(&text)
        .unwrap_or_else(|error| refuse(&format!("`{file}` is not JSON: {error}")));
    let mut log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(format!("{file}.log"))
        .unwrap_or_else(|error| refuse(&format!("cannot write a log: {error}")));
    let mut sent = 0;
    let mut counts = HashMap::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let _ = writeln!(log, "{line}");
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        // A test may have changed it in the middle of a session.
        let now = std::fs::read_to_string(file).ok();
        if let Some(now) = now.and_then(|text| serde_json::from_str(&text).ok()) {
            script = now;
        }
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                answer(next_step(&script, method, &mut counts), id, &mut sent);
            }
            (None, Some(_)) => match next_step(&script, "answered", &mut counts) {
                step if step.is_object() => send_all(&step["before"], &mut sent),
                messages => send_all(messages, &mut sent),
            },
            // Of a notification, `before` is sent.
            (Some(method), None) => send_all(&script[method]["before"], &mut sent),
            (None, None) => {}
        }
    }
}

/// The step for the next message of this method: one `then` further with each, up to the last.
fn next_step<'s>(
    script: &'s Value,
    method: &str,
    counts: &mut HashMap<String, usize>,
) -> &'s Value {
    let count = counts.entry(method.to_owned()).or_default();
    let mut step = &script[method];
    for _ in 0..*count {
        step = step.get("then").unwrap_or(step);
    }
    *count += 1;
    step
}

fn answer(step: &Value, id: &Value, sent: &mut u64) {
    let with_id = |value: &Value| match value.as_str() {
        Some(text) => text.replace("$ID", &id.to_string()).into(),
        None => value.clone(),
    };
    for _ in 0..step["times"].as_u64().unwrap_or(1) {
        let messages = step["before"].as_array().into_iter().flatten();
        messages.for_each(|message| send(&with_id(message), sent));
    }
    let own = step.get("id").map_or_else(|| id.clone(), with_id);
    let mut answer = json!({ "jsonrpc": "2.0", "id": own });
    if step.is_null() {
        answer["error"] = json!({ "code": -32601, "message": "there is no such method" });
    } else if let Some(error) = step.get("error") {
        answer["error"] = error.clone();
    } else if let Some(result) = step.get("result") {
        answer["result"] = result.clone();
        if let Some(bytes) = step["padding"].as_u64() {
            answer["result"]["padding"] = "x".repeat(bytes as usize).into();
        }
        if let Some(count) = step["values"].as_u64() {
            // As text: the values would take a gigabyte.
            answer["result"]["values"] = "$VALUES".into();
            let list = format!("[{}1]", "1,".repeat(count as usize - 1));
            let text = answer.to_string().replace("\"$VALUES\"", &list);
            return send(&text.into(), sent);
        }
    } else {
        return;
    }
    send(&answer, sent);
    send_all(&step["after"], sent);
}

fn send_all(messages: &Value, sent: &mut u64) {
    for message in messages.as_array().into_iter().flatten() {
        send(message, sent);
    }
}

/// Sends a message; ends the process if stdout is closed.
fn send(message: &Value, sent: &mut u64) {
    *sent += 1;
    let text = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
    let mut stdout = std::io::stdout().lock();
    let line = text.replace("$N", &sent.to_string());
    let parts: Vec<&[u8]> = line.split("$FF").map(str::as_bytes).collect();
    let mut line = parts.join(&b"\xff"[..]);
    line.push(b'\n');
    if stdout.write_all(&line).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}
