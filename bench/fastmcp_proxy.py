"""A proxy made with FastMCP as its manual describes, in front of a server on standard streams.

Usage: `fastmcp_proxy.py http PORT COMMAND…` or `fastmcp_proxy.py stdio COMMAND…`.
"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

transport, *words = sys.argv[1:]
port = int(words.pop(0)) if transport == "http" else None
proxy = create_proxy(StdioTransport(words[0], words[1:]), name="proxy")
if port:
    address = {"host": "127.0.0.1", "port": port, "path": "/mcp"}
    proxy.run("http", **address, log_level="warning", show_banner=False)
else:
    proxy.run("stdio", log_level="warning", show_banner=False)
