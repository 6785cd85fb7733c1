"""The web tools through `call` and `serve`, with the configuration of the examples, against a local
server."""

import asyncio
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

BINARY = pathlib.Path(sys.argv[1]).resolve()
CONFIG = pathlib.Path(__file__).resolve().parent.parent / "examples/toolwright.toml"
PAGE = b"<nav>menu</nav><h1>Tides</h1><ul><li>high<li>low</ul>"
EXPECTED = {"content": "# Tides\n\n- high\n- low", "lines_read": 4}


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


async def served(url, environment):
    transport = StdioTransport(str(BINARY), ["serve", "--config", str(CONFIG)], env=environment)
    async with Client(transport) as client:
        names = {tool.name for tool in await client.list_tools()}
        fetch = next(name for name in names if name.endswith("web_fetch"))
        assert any(name.endswith("web_search_brave") for name in names), names
        assert any(name.endswith("web_search_google") for name in names), names
        result = await client.call_tool(fetch, {"url": url})
        return json.loads(result.content[0].text)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    environment = {**os.environ, "TOOLWRIGHT_WEB_ALLOW_PRIVATE": "1"}
    command = [BINARY, "call", "web_fetch", f"url={url}", "--config", CONFIG]
    called = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert json.loads(called.stdout) == EXPECTED, called
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "private" in refused.stderr, refused
    shown = subprocess.run([BINARY, "md", url], env=environment, capture_output=True, text=True, timeout=60)
    assert shown.stdout == EXPECTED["content"] + "\n", shown
    assert asyncio.run(served(url, environment)) == EXPECTED
    print("web tools: called and served from the examples")


main()
