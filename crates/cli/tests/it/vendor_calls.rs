//! `toolwright call --as TARGET` through the binary: calls of every vendor, alone, in a list and in
//! a whole response; what is restored; and what is answered with an error.

use serde_json::{Value as Json, json};
use toolwright_schema::VendorTarget;

use crate::client::{faulty_server, process_tool, run_with};
use crate::program::{Run, folder};

/// A folder with a program that returns its arguments. Its name has a character that vendors do not
/// accept.
fn echo_folder() -> tempfile::TempDir {
    let folder = folder(&[]);
    let schema = json!({
        "name": "desk.note", "description": "Writes a note down.",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1},
                "count": {"type": "integer", "minimum": 1}
            },
            "required": ["text"], "additionalProperties": false
        }
    });
    process_tool(&folder.path().join("desk.note-tool"), &schema, "cat");
    folder
}

/// The name of the tool in the output of `convert`, which also writes the session.
fn converted_name(folder: &std::path::Path, target: &str) -> String {
    let args = [
        "convert",
        "desk.note-tool",
        "--to",
        target,
        "-o",
        "out.json",
        "--session",
        "session.json",
        "--losses",
        "none",
    ];
    let run = run_with(folder, &args, &[], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = std::fs::read_to_string(folder.join("session.json")).expect("a file");
    let session: Json = serde_json::from_str(&text).expect("JSON");
    session["tools"][0]["name"].as_str().expect("a name").to_owned()
}

/// How a vendor writes calls and takes results.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Bedrock,
}

fn shape(target: VendorTarget) -> Shape {
    match target.id() {
        "openai-responses" | "openai-responses-strict" => Shape::Responses,
        "anthropic" | "anthropic-strict" => Shape::Anthropic,
        "gemini" | "gemini-openapi" => Shape::Gemini,
        "bedrock" => Shape::Bedrock,
        _ => Shape::Chat,
    }
}

/// A call as the vendor's response has it.
fn call(target: VendorTarget, id: &str, name: &str, arguments: &Json) -> Json {
    let text = || arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    match shape(target) {
        // Ollama gives an object and no id.
        Shape::Chat if target == VendorTarget::Ollama => {
            json!({"function": {"name": name, "arguments": arguments}})
        }
        Shape::Chat => json!({
            "id": id, "type": "function", "function": {"name": name, "arguments": text()}
        }),
        Shape::Responses => json!({
            "type": "function_call", "id": "fc", "call_id": id, "name": name, "arguments": text()
        }),
        Shape::Anthropic => json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
        Shape::Gemini => json!({"functionCall": {"id": id, "name": name, "args": arguments}}),
        Shape::Bedrock => json!({"toolUse": {"toolUseId": id, "name": name, "input": arguments}}),
    }
}

/// A whole response with these calls, and with a text where the vendor has one beside them.
fn response(target: VendorTarget, calls: &[Json]) -> Json {
    let with_text = |text: Json| [&[text], calls].concat();
    match (shape(target), target.id()) {
        (Shape::Chat, "ollama" | "cohere") => {
            json!({"message": {"role": "assistant", "tool_calls": calls}, "done": true})
        }
        (Shape::Chat, _) => json!({"id": "r", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": calls}}
        ]}),
        (Shape::Responses, _) => json!({
            "id": "r", "output": with_text(json!({"type": "reasoning", "id": "rs", "summary": []}))
        }),
        (Shape::Anthropic, _) => json!({
            "id": "r", "role": "assistant", "stop_reason": "tool_use",
            "content": with_text(json!({"type": "text", "text": "I look."}))
        }),
        (Shape::Gemini, _) => json!({"candidates": [{"content": {
            "role": "model", "parts": with_text(json!({"text": "I look."}))
        }}]}),
        (Shape::Bedrock, _) => json!({"output": {"message": {
            "role": "assistant", "content": with_text(json!({"text": "I look."}))
        }}, "stopReason": "tool_use"}),
    }
}

/// The results: the id that each refers to, its text, and whether it is marked as an error.
fn results(target: VendorTarget, output: &str) -> Vec<(String, String, bool)> {
    let output: Json = serde_json::from_str(output).unwrap_or_else(|e| panic!("{e}: {output}"));
    let list = match shape(target) {
        Shape::Chat | Shape::Responses => &output,
        Shape::Anthropic | Shape::Bedrock => &output["content"],
        Shape::Gemini => &output["parts"],
    };
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let one = |result: &Json| match shape(target) {
        Shape::Chat => {
            assert_eq!(result["role"], "tool");
            let id = if target == VendorTarget::Ollama { "tool_name" } else { "tool_call_id" };
            let content = text(&result["content"]);
            (text(&result[id]), content.clone(), content.starts_with("Error: "))
        }
        Shape::Responses => {
            assert_eq!(result["type"], "function_call_output");
            let content = text(&result["output"]);
            (text(&result["call_id"]), content.clone(), content.starts_with("Error: "))
        }
        Shape::Anthropic => {
            assert_eq!((&result["type"], &output["role"]), (&json!("tool_result"), &json!("user")));
            (text(&result["tool_use_id"]), text(&result["content"]), result["is_error"] == true)
        }
        Shape::Gemini => {
            let result = &result["functionResponse"];
            let (output, error) = (&result["response"]["output"], &result["response"]["error"]);
            let content = if error.is_null() { output } else { error };
            (text(&result["id"]), text(content), !error.is_null())
        }
        Shape::Bedrock => {
            let result = &result["toolResult"];
            let content = &result["content"][0];
            let content = content.get("json").unwrap_or(&content["text"]);
            (text(&result["toolUseId"]), text(content), result["status"] == "error")
        }
    };
    list.as_array().expect("a list").iter().map(one).collect()
}

fn call_as(folder: &std::path::Path, target: &str, more: &[&str], input: &Json) -> Run {
    let args = [&["call", "--as", target, "--from", "desk.note-tool"], more].concat();
    run_with(folder, &args, &[], &input.to_string())
}

/// The arguments of a good call. Strict mode demands every property.
fn good_arguments(target: VendorTarget) -> Json {
    match target {
        VendorTarget::OpenAiStrict | VendorTarget::OpenAiResponsesStrict => {
            json!({"text": "x", "count": null})
        }
        _ => json!({"text": "x"}),
    }
}

#[test]
fn the_calls_of_every_vendor_are_restored_run_and_answered() {
    for target in VendorTarget::ALL {
        let folder = echo_folder();
        let name = converted_name(folder.path(), target.id());
        assert!(name.starts_with("desk_note_"), "{name}");
        let good = |id: &str| call(target, id, &name, &good_arguments(target));
        // A text that is not JSON, or, where arguments are an object, a value that is not one.
        let broken = match shape(target) {
            Shape::Chat | Shape::Responses if target != VendorTarget::Ollama => json!("{\"text\":"),
            _ => json!([1]),
        };
        let calls = [
            good("c1"),
            call(target, "c2", &name, &broken),
            call(target, "c3", &name, &json!({"text": "", "count": 2})),
            call(target, "c4", "desk.note", &json!({"text": "x"})),
            good("c5"),
        ];
        let expected = |n: usize, id: &str, text: &str, is_error: bool| {
            let id = if target == VendorTarget::Ollama {
                if n == 3 { "desk.note" } else { &name }
            } else {
                id
            };
            (id.to_owned(), text.to_owned(), is_error)
        };
        for session in [&["--session", "session.json"][..], &[]] {
            let run = call_as(folder.path(), target.id(), session, &response(target, &calls));
            assert_eq!(run.code, 1, "{}: {}", target.id(), run.stderr);
            let found = results(target, &run.stdout);
            assert_eq!(found.len(), 5, "{}: {}", target.id(), run.stdout);
            for (n, (id, wanted, is_error)) in [
                ("c1", r#"{"text":"x"}"#, false),
                ("c2", "the arguments are not", true),
                ("c3", "INPUT_INVALID", true),
                ("c4", "there is no tool `desk.note`", true),
                ("c5", r#"{"text":"x"}"#, false),
            ]
            .into_iter()
            .enumerate()
            {
                let (own, text, marked) = &found[n];
                let (id, wanted, is_error) = expected(n, id, wanted, is_error);
                assert_eq!((own, *marked), (&id, is_error), "{}: {text}", target.id());
                let is_right = if is_error { text.contains(&wanted) } else { *text == wanted };
                assert!(is_right, "{} {n}: {text}", target.id());
            }
        }
        // A list of calls, and one call alone.
        for input in [json!([good("c1")]), good("c1")] {
            let run = call_as(folder.path(), target.id(), &[], &input);
            assert_eq!(run.code, 0, "{}: {}", target.id(), run.stderr);
            let found = results(target, &run.stdout);
            assert_eq!(found, [expected(0, "c1", r#"{"text":"x"}"#, false)], "{}", target.id());
        }
    }
}

/// The libraries of Google and Amazon hand calls out without the part or block around them.
#[test]
fn calls_without_the_block_around_them_are_read() {
    let folder = echo_folder();
    for target in [VendorTarget::Gemini, VendorTarget::Bedrock] {
        let name = converted_name(folder.path(), target.id());
        let call = match target {
            VendorTarget::Gemini => json!({"name": name, "args": {"text": "x"}, "id": "c1"}),
            _ => json!({"name": name, "input": {"text": "x"}, "toolUseId": "c1"}),
        };
        for input in [json!([call]), call] {
            let run = call_as(folder.path(), target.id(), &[], &input);
            assert_eq!(run.code, 0, "{}: {}", target.id(), run.stderr);
            let found = results(target, &run.stdout);
            assert_eq!(found, [("c1".to_owned(), r#"{"text":"x"}"#.to_owned(), false)]);
        }
    }
}

#[test]
fn calls_without_arguments_have_none() {
    let folder = echo_folder();
    let name = converted_name(folder.path(), "openai");
    for call in [
        json!({"id": "c", "type": "function", "function": {"name": name}}),
        json!({"id": "c", "type": "function", "function": {"name": name, "arguments": ""}}),
        json!({"id": "c", "type": "function", "function": {"name": name, "arguments": null}}),
        json!({"id": "c", "type": "function", "function": {"name": name, "arguments": {}}}),
    ] {
        let run = call_as(folder.path(), "openai", &[], &call);
        let found = results(VendorTarget::OpenAi, &run.stdout);
        assert!(found[0].1.contains("INPUT_INVALID") && found[0].1.contains("text"), "{found:?}");
    }
}

#[test]
fn unusable_input_is_refused_before_anything_runs() {
    let folder = echo_folder();
    converted_name(folder.path(), "anthropic");
    let plain = json!({"role": "assistant", "content": [{"type": "text", "text": "No call."}]});
    for (target, more, input, message) in [
        ("anthropic", &[][..], "{", "the input is not valid JSON"),
        ("anthropic", &[], &plain.to_string(), "the input has no tool call of `anthropic`"),
        ("openai", &[], r#"{"toolUse": {"name": "x"}}"#, "the input has no tool call of `openai`"),
        ("openai", &["--session", "session.json"], "{}", "was written for `anthropic`"),
        ("openai", &["--session", "out.json"], "{}", "not a file of `convert --session`"),
        ("openai", &["--session", "gone.json"], "{}", "cannot read `gone.json`"),
        ("gopher", &[], "{}", "invalid value 'gopher'"),
    ] {
        let args = [&["call", "--as", target, "--from", "desk.note-tool"], more].concat();
        let run = run_with(folder.path(), &args, &[], input);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{target}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{target}: {}", run.stderr);
    }
    // The id of a tool and `--as` exclude each other, and one of them is needed.
    for args in [&["call", "x", "--as", "openai"][..], &["call"], &["call", "x", "--session", "s"]]
    {
        assert_eq!(run_with(folder.path(), args, &[], "").code, 2, "{args:?}");
    }
}

/// The APIs refuse a request with an image of a type that they do not know.
#[test]
fn images_of_other_types_are_named_in_a_text() {
    let image = |kind: &str| json!({"type": "image", "data": "AAAA", "mimeType": kind});
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "draw", "version": "1"},
        }},
        "tools/list": {"result": {"tools": [
            {"name": "draw", "description": "Draws", "inputSchema": {"type": "object"}}
        ]}},
        "tools/call": {"result": {"content": [image("image/svg+xml"), image("image/jpg")]}},
    });
    let folder = folder(&[("script.json", script.to_string().as_bytes())]);
    let script = folder.path().join("script.json");
    let server = json!({"command": faulty_server(), "args": ["scripted", script]});
    let servers = json!({"mcpServers": {"art": server}}).to_string();
    std::fs::write(folder.path().join(".mcp.json"), servers).expect("a file");
    let named = "[image: image/svg+xml]";
    for (target, text, kind) in [
        (
            VendorTarget::Anthropic,
            "/content/0/content/0/text",
            "/content/0/content/1/source/media_type",
        ),
        (VendorTarget::OpenAiResponses, "/0/output/0/text", "/0/output/1/image_url"),
        (
            VendorTarget::Bedrock,
            "/content/0/toolResult/content/0/text",
            "/content/0/toolResult/content/1/image/format",
        ),
        (
            VendorTarget::Gemini,
            "/parts/0/functionResponse/response/output",
            "/parts/0/functionResponse/parts/0/inlineData/mimeType",
        ),
    ] {
        let input = call(target, "c1", "art__draw", &json!({}));
        let args = ["call", "--as", target.id(), "--from", ".mcp.json"];
        let run = run_with(folder.path(), &args, &[], &input.to_string());
        assert_eq!(run.code, 0, "{}: {}", target.id(), run.stderr);
        let results: Json = serde_json::from_str(&run.stdout).expect("JSON");
        let at = |pointer: &str| {
            results.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned()
        };
        assert!(at(text).contains(named), "{}: {results:#}", target.id());
        let kind = at(kind);
        assert!(kind.contains("jpeg"), "{}: {kind} {results:#}", target.id());
    }
}

/// Bedrock takes a result as JSON and images side by side.
#[test]
fn images_beside_a_structured_result_are_passed_on() {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let text = json!({"type": "text", "text": "{\"width\":3}"});
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "draw", "version": "1"},
        }},
        "tools/list": {"result": {"tools": [{
            "name": "draw", "description": "Draws", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"width": {"type": "integer"}}},
        }]}},
        "tools/call": {"result": {"content": [text, image], "structuredContent": {"width": 3}}},
    });
    let folder = folder(&[("script.json", script.to_string().as_bytes())]);
    let script = folder.path().join("script.json");
    let server = json!({"command": faulty_server(), "args": ["scripted", script]});
    let servers = json!({"mcpServers": {"art": server}}).to_string();
    std::fs::write(folder.path().join(".mcp.json"), servers).expect("a file");
    let input = call(VendorTarget::Bedrock, "c1", "art__draw", &json!({})).to_string();
    let args = ["call", "--as", "bedrock", "--from", ".mcp.json"];
    let run = run_with(folder.path(), &args, &[], &input);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let results: Json = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        results["content"][0]["toolResult"]["content"],
        json!([{"json": {"width": 3}}, {"image": {"format": "png", "source": {"bytes": "AAAA"}}}])
    );
}
