#!/usr/bin/env python3
"""The MCP server of ../aios/tickets.yaml: tickets in memory, with the habits of a real service.

A created ticket comes back inside of `ticket`, a changed one as it is; a list of labels in a change
is answered with 400 and no reason; one title is one ticket."""

import json
import sys

TICKETS = {7: {"title": "Printer on fire", "labels": ["hardware"]}}
TOOLS = [
    {
        "name": "create_ticket",
        "description": "Creates a ticket",
        "inputSchema": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "labels": {}},
        },
    },
    {
        "name": "update_ticket",
        "description": "Changes the labels of a ticket",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "labels": {}},
        },
    },
]


def shown(number):
    ticket = TICKETS[number]
    return {"id": number, "url": f"https://tickets.example.com/{number}", **ticket}


def call(name, arguments):
    if name == "create_ticket":
        title = arguments["title"]
        same = [number for number, ticket in TICKETS.items() if ticket["title"] == title]
        number = same[0] if same else max(TICKETS) + 1
        TICKETS.setdefault(number, {"title": title, "labels": arguments.get("labels", [])})
        return {"ticket": shown(number)}
    number, changes = arguments["id"], arguments.get("labels", {})
    if number not in TICKETS:
        raise ValueError(f"ticket {number} not found")
    if not isinstance(changes, dict):
        raise ValueError("400")
    labels = TICKETS[number]["labels"]
    labels += [label for label in changes.get("add", []) if label not in labels]
    TICKETS[number]["labels"] = [it for it in labels if it not in changes.get("remove", [])]
    return shown(number)


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tickets", "version": "1.2.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    try:
        result = call(params["name"], params.get("arguments", {}))
        return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
    except Exception as error:  # a wrong call is the caller's mistake, not the server's end
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        known = message["method"] in ("initialize", "tools/list", "tools/call")
        body = {"result": answer(message["method"], message.get("params", {}))} if known else {
            "error": {"code": -32601, "message": f"no method {message['method']}"}
        }
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
