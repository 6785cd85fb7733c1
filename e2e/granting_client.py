"""Calls a tool that needs a grant, with the client of the official Python SDK, and prints how it
was asked.

    granting_client.py MODE SERVER ANSWERS

MODE is that of the SDK: `auto` for the newest revision, `legacy` for the handshake. SERVER is a
command as JSON, and ANSWERS a list: one word for each call. The output is a list with an item for
each call: the words that were offered, `null` if nobody was asked, and whether the call failed.
"""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

MODE, SERVER, ANSWERS = sys.argv[1], *map(json.loads, sys.argv[2:4])
STATE = {"word": None, "offered": None}


async def elicited(_context, params):
    offered = params.requested_schema["properties"]["decision"]["enum"]
    STATE["offered"] = offered
    word = STATE["word"] if STATE["word"] in offered else "no"
    return types.ElicitResult(action="accept", content={"decision": word})


async def main():
    parameters = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=dict(os.environ))
    server = stdio_client(parameters, errlog=open(os.devnull, "w"))
    found = []
    async with Client(server, mode=MODE, elicitation_callback=elicited, cache=None, read_timeout_seconds=30) as client:
        for word in ANSWERS:
            STATE.update(word=word, offered=None)
            result = await client.call_tool("press__print", {"text": word})
            found.append([STATE["offered"], bool(result.is_error)])
    print(json.dumps(found))


asyncio.run(main())
