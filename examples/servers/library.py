#!/usr/bin/env python3
"""The MCP server of ../aios/library.yaml: a few books in memory. Its schemas are the common ones:
no arguments, a required text, a choice with a default, a list of objects, one of two types."""

import json
import sys

BOOKS = {"Emma": 2, "Middlemarch": 1, "Kristin Lavransdatter – Kransen": 1}


def object_schema(properties, required=()):
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


TITLE = {"type": "string", "description": "The whole title"}
ITEM = object_schema({"title": TITLE, "copies": {"type": "number"}}, ["title"])
ENCODING = {"type": "string", "enum": ["utf8", "ascii"], "default": "utf8"}
TERM = {
    "oneOf": [
        {"type": "string", "enum": ["short", "long"]},
        {"type": "number", "minimum": 1, "maximum": 10},
    ]
}
TOOLS = {
    "count_books": ("Counts the titles", {"type": "object", "additionalProperties": False}),
    "find_book": ("Counts the copies of a book", object_schema({"title": TITLE}, ["title"])),
    "list_titles": ("Lists the titles", object_schema({"encoding": ENCODING})),
    "add_books": ("Adds books", object_schema({"items": {"type": "array", "items": ITEM}})),
    "lend_book": (
        "Lends a book for a term, or for a number of weeks",
        object_schema({"title": TITLE, "term": TERM}, ["title"]),
    ),
}


def call(name, arguments):
    if name == "count_books":
        return {"titles": len(BOOKS)}
    if name == "list_titles":
        titles = sorted(BOOKS)
        if arguments.get("encoding") == "ascii":
            titles = [title.encode("ascii", "replace").decode() for title in titles]
        return {"titles": titles}
    if name == "add_books":
        for item in arguments.get("items", []):
            BOOKS[item["title"]] = BOOKS.get(item["title"], 0) + item.get("copies", 1)
        return {"titles": len(BOOKS)}
    title = arguments["title"]
    if BOOKS.get(title, 0) == 0:
        raise ValueError(f"there is no copy of {title}")
    if name == "lend_book":
        BOOKS[title] -= 1
        term = arguments.get("term", "short")
        return {"weeks": {"short": 2, "long": 8}.get(term, term)}
    return {"copies": BOOKS[title]}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "library", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {
            "tools": [
                {"name": name, "description": description, "inputSchema": schema}
                for name, (description, schema) in TOOLS.items()
            ]
        }
    try:
        result = call(params["name"], params.get("arguments", {}))
        text = json.dumps(result)
        return {"content": [{"type": "text", "text": text}], "structuredContent": result}
    except Exception as error:  # a wrong call is the caller's mistake, not the server's end
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        known = message["method"] in ("initialize", "tools/list", "tools/call")
        body = {"result": answer(message["method"], message.get("params", {}))} if known else {
            "error": {"code": -32601, "message": f"no method {message['method']}"}
        }
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
