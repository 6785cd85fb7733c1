"""The tools that the official conformance suite calls, as an MCP server on standard streams.

The suite talks to Toolwright, which serves the tools of this server: so the suite tests how
Toolwright passes on a server that does everything right. Standard library only; revision 2025-11-25.
"""

import json
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
    "test_reconnection": ("Takes a while.", None, progresses),
    "test_missing_capability": ("Needs a client that samples, and has none.", None, lambda *_: MISSING),
    "test_trigger_tool_change": ("Changes the list of tools.", None, changes),
    "json_schema_2020_12_tool": ("Has a schema with everything.", SCHEMA_2020_12, lambda *_: text("valid")),
    "test_header": ("Has an argument that travels as a header too.", HEADERS, lambda given, _: text(given["region"])),
}


def listing():
    empty = {"type": "object", "properties": {}}
    rows = list(TOOLS.items())
    return [{"name": name, "description": about, "inputSchema": schema or empty} for name, (about, schema, _) in rows]


def answer(method, params):
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}, "logging": {}}
        info = {"name": "conformance-fixture", "version": "1.0.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return {"tools": listing()}
    if method == "tools/call":
        tool = TOOLS[params["name"]]
        return tool[2](params.get("arguments", {}), params.get("_meta", {}).get("progressToken"))
    if method in ("ping", "logging/setLevel"):
        return {}
    return None


def serve(request):
    result = answer(request["method"], request.get("params") or {})
    if result is None:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif result is MISSING:
        send({"id": request["id"], "error": MISSING})
    else:
        send({"id": request["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=serve, args=(message,), daemon=True).start()
