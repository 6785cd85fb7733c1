"""FastMCP's proxy, as its manual makes one: `fastmcp_proxy.py http PORT COMMAND…` or `… stdio COMMAND…`."""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

way, *words = sys.argv[1:]
port = int(words.pop(0)) if way == "http" else None
proxy = create_proxy(StdioTransport(words[0], words[1:]), name="proxy")
if port:
    proxy.run("http", host="127.0.0.1", port=port, path="/mcp", log_level="warning", show_banner=False)
else:
    proxy.run("stdio", log_level="warning", show_banner=False)
