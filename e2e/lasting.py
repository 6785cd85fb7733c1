"""A client keeps working when its HTTP server is restarted, its connection breaks, or its session
expires.

    client ─▶ proxy of this script ─▶ server-everything, or toolwright serve

The clients are those of the official SDKs. They recover as their documentation describes: by
themselves, by calling again, or by connecting again in the same process. Through Toolwright that
must work, and in the same revision with no more effort than with server-everything directly.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from peers import HERE, Peers, Tally, listening

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()
PY = [PEERS.python, str(HERE / "lasting_client.py")]
MJS = [PEERS.node, str(HERE / "lasting_client.mjs")]
CLIENTS = {
    "Python": [*PY, "auto"],
    "Python, handshake": [*PY, "legacy"],
    "TypeScript 1.x": [*MJS, "1.x", str(PEERS.modules)],
    "TypeScript 2.x": [*MJS, "2.x", str(PEERS.modules)],
}
# What a client has to do, in the order of the effort.
EFFORTS = ["goes on", "calls again", "connects again", "fails"]
SESSION_IDLE = 1000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server that can be restarted on the same port."""

    def __init__(self, kind, folder):
        self.port, self.kind, self.stack = free_port(), kind, contextlib.ExitStack()
        config = pathlib.Path(folder, f"{self.port}.toml")
        everything = json.dumps(PEERS.servers["everything"][0])
        config.write_text(
            f"[[source]]\nname = 'everything'\ncommand = {everything}\n\n[serve]\nsession_idle = {SESSION_IDLE}\n"
        )
        command = PEERS.serve("--http", f"127.0.0.1:{self.port}")
        # Only one of the situations is about sessions that expire; in the others they do not.
        self.command = {
            "direct": PEERS.servers["everything"][1],
            "through": [*command, "--", *PEERS.servers["everything"][0]],
            "expiring": [*command, "--config", str(config)],
        }[kind]

    def start(self):
        self.stack.enter_context(listening(["/usr/bin/env", f"LOOPBACK_PORT={self.port}", *self.command]))

    def stop(self):
        self.stack.close()


class Proxy:
    """Passes bytes on, can break all connections, and remembers the last session id that it has
    seen."""

    def __init__(self, port):
        self.port, self.session, self.open = port, None, set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    client.close()
                    continue
                self.open |= {client, server}
                for ends in [(client, server), (server, client)]:
                    threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                # Neither the name of the server nor its port may be those of the proxy.
                data = data.replace(self.url[7:-4].encode(), f"127.0.0.1:{self.port}".encode())
                if found := re.search(rb"(?i)\r\nmcp-session-id: *(\S+)", data):
                    self.session = found[1].decode()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def break_connections(self):
        for end in list(self.open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.open.clear()

    def close(self):
        self.listener.close()
        self.break_connections()


class Client:
    """One of the clients, as a process that gets commands on standard input."""

    def __init__(self, name, url, prefix):
        command = [*CLIENTS[name], url, prefix]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, text=True, env=dict(os.environ), **pipes)
        self.answers = concurrent.futures.ThreadPoolExecutor(1)

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def answer(self):
        """The next answer; nothing in 25 seconds is an error."""
        try:
            line = self.answers.submit(self.process.stdout.readline).result(25)
        except concurrent.futures.TimeoutError:
            return {"error": "no answer"}
        return json.loads(line) if line else {"error": "the client has ended"}

    def ask(self, word):
        self.tell(word)
        return self.answer()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.answers.shutdown()


def effort(client, word, first):
    """How much the client has to do for a call whose first answer is known."""
    tried = [first]
    if "text" not in tried[-1]:
        tried.append(client.ask(word))
    if "text" not in tried[-1]:
        tried += [client.ask("reconnect"), client.ask(word)]
    number = {1: 0, 2: 1, 4: 2}[len(tried)] if "text" in tried[-1] else 3
    return EFFORTS[number], tried


# The situations. Each returns the effort, and the answers of the client.


def restarted(client, server, _proxy):
    server.stop()
    server.start()
    return effort(client, "echo", client.ask("echo"))


def broken(client, _server, proxy):
    client.tell("long")
    time.sleep(0.7)
    proxy.break_connections()
    return effort(client, "long", client.answer())


def expired(client, server, proxy):
    if server.kind == "direct":
        # This server keeps its sessions, so the session is ended as somebody else would.
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("DELETE", "/mcp", headers={"Mcp-Session-Id": proxy.session or "none"})
        connection.getresponse().read()
    time.sleep(2.5 * SESSION_IDLE / 1000)
    return effort(client, "echo", client.ask("echo"))


SITUATIONS = {
    "the server is restarted between two calls": restarted,
    "the connection breaks during a call": broken,
    "the session expires": expired,
}


def run(situation, name, kind, folder):
    kind = "expiring" if kind == "through" and SITUATIONS[situation] is expired else kind
    server = Server(kind, folder)
    server.start()
    proxy = Proxy(server.port)
    # With a configuration, names have the name of the source before them.
    client = Client(name, proxy.url, "everything__" if kind == "expiring" else "")
    try:
        connected, first = client.answer(), client.ask("echo")
        if "text" not in connected or "text" not in first:
            return None, "fails", [connected, first]
        return connected["text"], *SITUATIONS[situation](client, server, proxy)
    finally:
        client.close()
        proxy.close()
        server.stop()


def main():
    plans = [(situation, name, kind) for situation in SITUATIONS for name in CLIENTS for kind in ("direct", "through")]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(6) as pool:
        results = dict(zip(plans, pool.map(lambda plan: run(*plan, folder), plans)))
    print("| situation | client | directly | through Toolwright |\n|---|---|---|---|")
    for situation in SITUATIONS:
        for name in CLIENTS:
            spoken, direct, why_direct = results[situation, name, "direct"]
            revision, through, why = results[situation, name, "through"]
            print(f"| {situation} | {name} | {direct} ({spoken}) | {through} ({revision}) |")
            # SDKs treat revisions differently: a call of the newest one, for example, cannot be
            # resumed.
            is_worse = revision == spoken and EFFORTS.index(through) > EFFORTS.index(direct)
            is_good = through != "fails" and not is_worse
            TALLY.check(is_good, f"{situation}, {name}: {through}, directly {direct}\n  {why}\n  {why_direct}")
    TALLY.end(f"lasting: {len(SITUATIONS)} situations, {len(CLIENTS)} clients")


main()
