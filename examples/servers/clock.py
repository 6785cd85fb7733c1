#!/usr/bin/env python3
"""A whole MCP server in a few lines, without a library: a clock that also waits.

It reads one JSON-RPC message a line and answers in the same way. Its tools are those of
../mcp/clock.json, so that the definition and the server cannot drift apart."""

import datetime
import json
import pathlib
import sys
import time
import zoneinfo

TOOLS = json.loads((pathlib.Path(__file__).parent / "../mcp/clock.json").read_text())["tools"]


def call(name, arguments):
    if name == "now":
        zone = zoneinfo.ZoneInfo(arguments.get("timezone", "UTC"))
        return {"time": datetime.datetime.now(zone).isoformat(timespec="seconds")}
    time.sleep(arguments["seconds"])
    return {"waited": arguments["seconds"]}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "clock", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    try:
        result = call(params["name"], params.get("arguments", {}))
        return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
    except Exception as error:  # an unknown time zone is the caller's mistake, not the server's end
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        known = message["method"] in ("initialize", "tools/list", "tools/call")
        body = {"result": answer(message["method"], message.get("params", {}))} if known else {
            "error": {"code": -32601, "message": f"no method {message['method']}"}
        }
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
