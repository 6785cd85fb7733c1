"""The tools, resources and prompts that the official conformance suite uses, as an MCP server on
standard streams.

The suite talks to Toolwright, which serves the tools of this server: so the suite tests how
Toolwright passes on a server that does everything right. Standard library only; revision 2025-11-25.
"""

import json
import queue
import re
import sys
import threading
import time

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}

SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADERS = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
    "required": ["region"],
}

writing = threading.Lock()


def send(message):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def notify(method, **params):
    send({"method": f"notifications/{method}", "params": params})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


# Requests of this server that the client has not answered: id, and where the answer goes.
asked = {}


def ask(method, **params):
    """Sends a request to the client and waits for its result; an error of the client is raised."""
    number = f"question-{len(asked)}"
    answers = asked[number] = queue.Queue()
    send({"id": number, "method": method, "params": params})
    answer = answers.get(timeout=30)
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


def elicits(words, message, properties, required=()):
    """A tool that asks the person, and answers with what they said."""

    def elicit(given, _token):
        schema = {"type": "object", "properties": properties, "required": list(required)}
        answer = ask("elicitation/create", message=given.get("message", message), requestedSchema=schema)
        return text(f"{words}: action={answer['action']}, content={json.dumps(answer.get('content', {}))}")

    return elicit


def samples(given, _token):
    message = {"role": "user", "content": {"type": "text", "text": given["prompt"]}}
    answer = ask("sampling/createMessage", messages=[message], maxTokens=100)
    return text(f"LLM response: {answer['content']['text']}")


def reconnects(_arguments, _token):
    """Takes longer than Toolwright waits before it opens an event stream."""
    time.sleep(0.6)
    return text("took a while")


def logs(_arguments, _token):
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        notify("message", level="info", data=words)
        time.sleep(0.05)
    return text("logged three times")


def progresses(_arguments, token):
    for done in [0, 50, 100]:
        if token is not None:
            notify("progress", progressToken=token, progress=done, total=100)
        time.sleep(0.05)
    return text("went from 0 to 100")


def changes(_arguments, _token):
    """Adds a tool to the list, or removes it again."""
    if TOOLS.pop("test_added", None) is None:
        TOOLS["test_added"] = ("Comes and goes.", None, lambda *_: text("here"))
    notify("tools/list_changed")
    return text("the list has changed")


def resource(uri, kind, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


UNKNOWN_RESOURCE = {"code": -32002, "message": "Resource not found"}
MISSING = {
    "code": -32021,
    "message": "Missing required client capability",
    "data": {"requiredCapabilities": {"sampling": {}}},
}
RESOURCE = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
MIXED = [
    {"type": "text", "text": "Multiple content types test:"},
    IMAGE,
    resource("test://mixed-content-resource", "application/json", "{}"),
]

TEXT = {"type": "string"}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in [(1, "First"), (2, "Second"), (3, "Third")]]
CHOICES = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}


def arguments(*names):
    """A schema with these texts, all required."""
    return {"type": "object", "properties": {name: TEXT for name in names}, "required": list(names)}


# Name: description, input schema, implementation.
TOOLS = {
    "test_simple_text": ("Text.", None, lambda *_: text("This is a simple text response for testing.")),
    "test_image_content": ("An image.", None, lambda *_: {"content": [IMAGE]}),
    "test_audio_content": (
        "A sound.",
        None,
        lambda *_: {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]},
    ),
    "test_embedded_resource": ("A resource.", None, lambda *_: {"content": [RESOURCE]}),
    "test_multiple_content_types": ("Text, an image and a resource.", None, lambda *_: {"content": MIXED}),
    "test_error_handling": (
        "Always fails.",
        None,
        lambda *_: text("This tool intentionally returns an error for testing", isError=True),
    ),
    "test_tool_with_logging": ("Logs.", None, logs),
    "test_logging_tool": ("Logs.", None, logs),
    "test_tool_with_progress": ("Tells how far it is.", None, progresses),
    "test_streaming_elicitation": ("Would ask, but has nobody to ask.", None, progresses),
    "test_reconnection": ("Takes a while.", None, reconnects),
    "test_sampling": ("Asks a model.", arguments("prompt"), samples),
    "test_elicitation": (
        "Asks the person.",
        arguments("message"),
        elicits("User response", "?", {"username": TEXT, "email": TEXT}, ["username", "email"]),
    ),
    "test_elicitation_sep1034_defaults": (
        "Asks with defaults.",
        None,
        elicits("Elicitation completed", "Please confirm", DEFAULTS),
    ),
    "test_elicitation_sep1330_enums": (
        "Asks with choices.",
        None,
        elicits("Elicitation completed", "Please choose", CHOICES),
    ),
    "test_missing_capability": ("Needs a client that samples, and has none.", None, lambda *_: MISSING),
    "test_trigger_tool_change": ("Changes the list of tools.", None, changes),
    "json_schema_2020_12_tool": ("Has a schema with everything.", SCHEMA_2020_12, lambda *_: text("valid")),
    "test_header": ("Has an argument that travels as a header too.", HEADERS, lambda given, _: text(given["region"])),
}


def listing():
    empty = {"type": "object", "properties": {}}
    rows = list(TOOLS.items())
    return [{"name": name, "description": about, "inputSchema": schema or empty} for name, (about, schema, _) in rows]


RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Changes now and then."},
}
TEMPLATE = "test://template/{id}/data"


def read(uri):
    """The content of a resource; `None` if there is none."""
    found = re.fullmatch(r"test://template/([^/]+)/data", uri)
    if found:
        data = {"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}
        return {"mimeType": "application/json", "text": json.dumps(data)}
    return RESOURCES.get(uri)


def say(*contents):
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def words(text):
    return {"type": "text", "text": text}


# Name: arguments, implementation.
PROMPTS = {
    "test_simple_prompt": ([], lambda _: say(words("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": (
        ["arg1", "arg2"],
        lambda given: say(words(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")),
    ),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: say(
            resource(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            words("Please process the embedded resource above."),
        ),
    ),
    "test_prompt_with_image": ([], lambda _: say(IMAGE, words("Please analyze the image above."))),
}


def prompts():
    rows = PROMPTS.items()
    return [
        {"name": name, "arguments": [{"name": given, "required": True} for given in names]}
        for name, (names, _) in rows
    ]


def answer(method, params):
    if method == "initialize":
        capabilities = {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        }
        info = {"name": "conformance-fixture", "version": "1.0.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return {"tools": listing()}
    if method == "tools/call":
        tool = TOOLS[params["name"]]
        return tool[2](params.get("arguments", {}), params.get("_meta", {}).get("progressToken"))
    if method == "resources/list":
        return {"resources": [{"uri": uri, "name": uri.removeprefix("test://")} for uri in RESOURCES]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": TEMPLATE, "name": "data"}]}
    if method == "resources/read":
        content = read(params["uri"])
        return UNKNOWN_RESOURCE if content is None else {"contents": [{"uri": params["uri"], **content}]}
    if method == "prompts/list":
        return {"prompts": prompts()}
    if method == "prompts/get":
        return PROMPTS[params["name"]][1](params.get("arguments", {}))
    if method == "completion/complete":
        begun = params["argument"]["value"]
        values = [word for word in ["paris", "park", "party"] if word.startswith(begun)]
        return {"completion": {"values": values, "total": len(values), "hasMore": False}}
    if method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
        return {}
    return None


def serve(request):
    result = answer(request["method"], request.get("params") or {})
    if result is None:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif result is MISSING or result is UNKNOWN_RESOURCE:
        send({"id": request["id"], "error": result})
    else:
        send({"id": request["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=serve, args=(message,), daemon=True).start()
    elif message.get("id") in asked:
        asked[message["id"]].put(message)
