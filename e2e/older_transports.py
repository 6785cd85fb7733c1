"""Servers over the two older transports, SSE and WebSocket: supergateway, which offers both in front
of a server on standard streams, and the Python SDK 1.x, which has both. Toolwright lists and calls
their tools, from the command line and as a gateway.

The Python SDK 2.x has neither transport, so version 1.x is installed into an environment of its own.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from peers import HERE, Peers, Tally

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()
PYTHON_PACKAGES = ["mcp==1.30.0", "uvicorn==0.54.0", "websockets==17.4"]
# Seconds.
TIME_TO_START = 60


def old_python(work):
    """The interpreter of an environment with the Python SDK 1.x."""
    folder = pathlib.Path(work) / "venv-mcp1"
    python = folder / "bin" / "python"
    mark = folder / "installed"
    wanted = "\n".join(PYTHON_PACKAGES)
    if not mark.exists() or mark.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *PYTHON_PACKAGES], check=True)
        mark.write_text(wanted)
    return str(python)


def started(command, pattern, **options):
    """A process whose output names its port."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    for line in process.stdout:
        found = re.search(pattern, line)
        if found:
            # A full pipe would stop it.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, int(found.group(1))
    raise RuntimeError(f"{command} ended with {process.wait()}")


def supergateway(transport):
    """supergateway listens on all interfaces, unless the preloaded module changes that."""
    everything = PEERS.modules / "@modelcontextprotocol/server-everything/dist/index.js"
    command = [
        PEERS.node, str(PEERS.modules / "supergateway/dist/index.js"),
        "--stdio", f"{PEERS.node} {everything}", "--outputTransport", transport, "--port", "0",
    ]
    environment = dict(os.environ, NODE_OPTIONS=f"--require {HERE / 'loopback.cjs'}")
    return started(command, r"listening on http://127\.0\.0\.1:(\d+)/", env=environment)


def sdk(python, transport):
    return started([python, str(HERE / "older_server.py"), transport], r"running on http://127\.0\.0\.1:(\d+)")


def toolwright(folder, *words):
    """What the program prints."""
    # A store of its own.
    environment = dict(os.environ, XDG_STATE_HOME=str(folder))
    run = subprocess.run(
        [PEERS.binary, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_TO_START,
    )
    return run.stdout + run.stderr


def main():
    python = old_python(sys.argv[2])
    servers = {}
    processes = []
    try:
        for name, (process, port), path in [
            ("gateway-sse", supergateway("sse"), "http://127.0.0.1:{}/sse"),
            ("gateway-ws", supergateway("ws"), "ws://127.0.0.1:{}/message"),
            ("sdk-sse", sdk(python, "sse"), "http://127.0.0.1:{}/sse"),
            ("sdk-ws", sdk(python, "websocket"), "ws://127.0.0.1:{}/ws"),
        ]:
            processes.append(process)
            kind = "ws" if path.startswith("ws") else "sse"
            servers[name] = {"type": kind, "url": path.format(port)}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "servers.json"
            file.write_text(json.dumps({"mcpServers": servers}))
            for name in servers:
                for turn in range(3):
                    answer = toolwright(
                        folder, "call", f"{name}:echo", f"message=hello {turn}", "--from", str(file)
                    )
                    TALLY.check(f"hello {turn}" in answer, f"{name}, call {turn}: {answer}")
            listed = toolwright(folder, "list", str(file))
            for name in servers:
                TALLY.check(f"{name}:echo" in listed, f"{name} is listed: {listed}")
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    TALLY.end("supergateway and the Python SDK 1.x over SSE and WebSocket")


main()
