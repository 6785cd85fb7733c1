"""A server of the Python SDK 1.x with one tool, over SSE or a WebSocket on a free loopback port."""

import sys

import uvicorn
from mcp.server.fastmcp import FastMCP
from mcp.server.websocket import websocket_server
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

server = FastMCP("older")


@server.tool()
def echo(message: str) -> str:
    """Repeats a message."""
    return f"echo: {message}"


async def serve_websocket(socket):
    async with websocket_server(socket.scope, socket.receive, socket.send) as (reading, writing):
        low = server._mcp_server
        await low.run(reading, writing, low.create_initialization_options())


if sys.argv[1] == "sse":
    application = server.sse_app()
else:
    application = Starlette(routes=[WebSocketRoute("/ws", serve_websocket)])
uvicorn.run(application, host="127.0.0.1", port=0)
