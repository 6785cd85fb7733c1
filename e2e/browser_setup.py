"""What the checks of the browser share: the pages, the sites that serve them, clients of Toolwright.

Two servers on loopback: the site whose pages are worked on, and another one. Both remember the
requests that reach them, and count the connections.
"""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY, WORK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PROGRAMS = ["chromium-headless-shell", "chromium"]
# Milliseconds: longer than anything takes that works, also on a busy machine, and the time of what
# does not end.
LONG, SHORT = 60_000, 4_000

SHEET = """<!doctype html><html lang="en"><head><title>Sheet</title></head><body>
<table id="data-table"><thead><tr><th>Item</th><th>Price</th></tr></thead>
<tbody><tr><td data-cell="A2">Tea</td><td data-cell="B2" data-formula="=2*21">42</td></tr>
<tr><td>Cake</td><td>7</td></tr></tbody></table>
<form id="order" action="/ordered"><label for="mail">E-mail</label>
<input id="mail" name="email"><select name="size"><option>S<option selected>M</select>
<input type="checkbox" name="agree"><textarea name="note">none</textarea></form>
<p id="out"></p><button id="talk" onclick="alert('hi'); out.textContent = 'talked'">Talk</button>
<a id="away" href="{other}/away">away</a> <a id="near" href="/sheet?2">near</a>
<div id="host"></div>
<script>
host.attachShadow({mode: 'open'}).innerHTML = '<i>inside</i>';
localStorage.setItem('kept', 'yes'); sessionStorage.setItem('tab', 'mine');
document.cookie = 'visible=1';
const opening = indexedDB.open('db', 1);
opening.onupgradeneeded = () => opening.result.createObjectStore('s').put({n: 1}, 'k');
</script></body></html>"""
HOSTILE = """<!doctype html><title>Hostile</title><p id="out">true</p><script>
Document.prototype.querySelector = () => { throw new Error('page'); };
Object.defineProperty(Node.prototype, 'textContent', { get: () => 'lie' });
JSON.stringify = () => '"lie"'; Promise = undefined; Map = undefined;
</script>"""
STRICT = "<!doctype html><title>Strict</title><p id=out>calm</p>"
WEBMCP = """<!doctype html><title>Desk</title><form toolname="order_tea"
tooldescription="Orders tea for the desk." toolautosubmit action="/ordered">
<input name="kind" required></form><script>
const add = (name, description, inputSchema, execute) =>
  (document.modelContext ?? navigator.modelContext).registerTool(
    { name, description, inputSchema, execute });
add('add_numbers', 'Adds two numbers.', { type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
add('read_desk', 'Says what is on the desk.', { type: 'object', properties: {} }, () => 'a lamp');
add('fails', 'Always fails, for tests.', { type: 'object', properties: {} },
  () => { throw new Error('broken'); });
</script>"""

# Buttons that keep the page from ever answering again, or from fitting into its memory.
LOOPS = """<!doctype html><title>Loops</title><button id="loop" onclick="for (;;);"></button>
<button id="micro" onclick="(async () => { for (;;) await 0 })()"></button>
<button id="dialogs" onclick="for (;;) alert('again')"></button>
<button id="memory" onclick="const all = []; setInterval(() => { for (let n = 0; n < 8; n++)
  all.push(new Uint8Array(1 << 20).fill(1)) }, 10)"></button>"""
# Signing in.
SIGNED = """<!doctype html><title>Signed</title><script>
document.cookie = 'signed=in; max-age=86400';</script>"""

RENDERED = """<!doctype html><title>Shop</title><div id="app"></div><script>
document.getElementById("app").innerHTML = "<main><h1>Lamps</h1><p>Written by a script.</p></main>";
</script>"""

# A page with another tool of the same name.
DESK = WEBMCP.replace("required: ['a', 'b']", "required: ['a']")

PAGES = {"/desk": DESK, "/rendered": RENDERED, "/sheet": SHEET, "/hostile": HOSTILE, "/strict": STRICT,
         "/webmcp": WEBMCP, "/loops": LOOPS, "/signed": SIGNED}


class Site(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A site on loopback, which remembers the requests that reach it."""

    daemon_threads = True

    def __init__(self, other=None):
        self.requests, self.other, self.connections = [], other, 0
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def get_request(self):
        accepted = super().get_request()
        # Also those over which nothing is sent, such as connections made ahead of requests.
        self.connections += 1
        return accepted

    def reached(self):
        """What has reached it so far."""
        return list(self.requests), self.connections


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split("?")[0]
        self.server.requests.append(f"{self.command} {self.path}")
        if self.headers.get("upgrade", "").lower() == "websocket":
            return self.echo()
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length).decode()
        if path == "/redirect":
            self.send_response(302)
            self.send_header("location", self.server.other + "/redirected")
            self.end_headers()
            return
        if path in PAGES:
            text = PAGES[path].replace("{other}", self.server.other or "")
            kind = "text/html"
        else:
            text, kind = json.dumps({"path": self.path, "body": body}), "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("access-control-allow-origin", "*")
        self.send_header("set-cookie", "hidden=1; HttpOnly")
        if path == "/strict":
            self.send_header(
                "content-security-policy",
                "default-src 'none'; require-trusted-types-for 'script'; sandbox allow-same-origin",
            )
        self.end_headers()
        # A browser that is killed does not read its answer.
        with contextlib.suppress(BrokenPipeError):
            self.wfile.write(text.encode())

    do_POST = do_GET

    def echo(self):
        """Answers the texts of a WebSocket until it is closed."""
        key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.wfile.write(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            + f"sec-websocket-accept: {accept}\r\n\r\n".encode()
        )
        self.close_connection = True
        while head := self.rfile.read(2):
            mask = self.rfile.read(4)
            text = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(head[1] & 127)))
            if head[0] & 15 == 8:
                break
            answer = b"echo " + text
            self.wfile.write(bytes([0x81, len(answer)]) + answer)

    def log_message(self, *_):
        pass


class Client:
    """A client of `toolwright serve` on standard streams."""

    def __init__(self, folder, *words, offers=None, environment=os.environ):
        environment = {**environment, "XDG_STATE_HOME": str(folder / "state")}
        command = [str(BINARY), "serve", "--config", str(folder / "toolwright.toml"), *words]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment, cwd=folder,
        )
        self.number = 0
        # What is printed, the methods of notifications, and answers to requests that were only sent.
        self.log, self.notices, self.results = [], [], {}
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": offers or {},
                                    "clientInfo": {"name": "e2e", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.number and "method" not in message:
                return message.get("result") or message
            if "method" not in message:
                self.results[message["id"]] = message
            self.notices.append(message.get("method"))
        raise AssertionError("the server ended: " + "".join(self.log))

    def await_message(self, wanted):
        """The next message that is wanted."""
        for line in self.process.stdout:
            message = json.loads(line)
            if wanted(message):
                return message
        raise AssertionError("the server ended: " + "".join(self.log))

    def call(self, name, arguments=None):
        """The value of a result, or the code of a failure."""
        result = self.request("tools/call", {"name": name, "arguments": arguments or {}})
        if "error" in result:
            return "NO_TOOL", result["error"]
        error = (result.get("_meta") or {}).get("toolwright/error")
        if error:
            return error["code"], error
        if result.get("isError"):
            return "ERROR", result
        block = result["content"][0]
        return "OK", result.get("structuredContent", block.get("text", block.get("mimeType")))

    def tools(self):
        return {tool["name"]: tool for tool in self.request("tools/list", {})["tools"]}

    def browsers(self):
        """The processes of Chromium below this server."""
        return browsers_of(self.process.pid)

    def close(self):
        pids = [pid for pid, _ in self.browsers()]
        self.process.stdin.close()
        self.process.wait(timeout=60)
        end = time.monotonic() + 60
        while any(alive(pid) for pid in pids):
            assert time.monotonic() < end, "a browser is left"
            time.sleep(0.05)


class HttpSession:
    """One of several sessions of a server."""

    def __init__(self, origin):
        self.origin, self.number, self.headers = origin, 0, {}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "e2e", "version": "1"}})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
                   "mcp-protocol-version": "2025-06-18", **self.headers}
        request = urllib.request.Request(self.origin, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            if session := response.headers.get("mcp-session-id"):
                self.headers = {"mcp-session-id": session}
            return response.read().decode()

    def request(self, method, params):
        self.number += 1
        text = self.post({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        if not text.startswith("{"):
            lines = [line[5:] for line in text.splitlines() if line.startswith("data:") and '"id"' in line]
            text = lines[-1]
        message = json.loads(text)
        return message.get("result") or message

    call, tools = Client.call, Client.tools


@contextlib.contextmanager
def serving_http(folder, *words):
    """The address of a server for several sessions."""
    command = [str(BINARY), "serve", "--http", "127.0.0.1:0", "--config", str(folder / "toolwright.toml"), *words]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder)
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"http://[^ ]*/mcp", line):
                break
        else:
            raise AssertionError("the server ended: " + "".join(lines))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield found[0]
    finally:
        process.terminate()
        process.wait(timeout=60)


def browsers_of(program):
    """The processes of Chromium below a process, with their command lines."""
    found, wanted = [], {program}
    listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
    for _ in range(6):
        wanted |= {int(pid) for pid, parent, *_ in rows if int(parent) in wanted}
    for pid, _, *command in rows:
        if int(pid) in wanted and command and "chrom" in command[0]:
            found.append((int(pid), command[0]))
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def write_tools(folder, tools, start, program, more=""):
    """A manifest with these tools, name: (capabilities, body) or (capabilities, body, milliseconds),
    and its configuration."""
    source = write_set(folder, "set", tools)
    (folder / "toolwright.toml").write_text(
        f'[browser]\nprogram = "{program}"\nstart = "{start}"\n{more}\n{source}'
    )


def write_set(folder, set_name, tools):
    """A manifest with these tools; returns the lines of the configuration that name it."""
    listed = [
        {"name": name, "description": "A tool of the browser tests.", "capabilities": needs,
         "inputSchema": {"type": "object"}, "timeout": (*time, LONG)[0]}
        for name, (needs, _, *time) in tools.items()
    ]
    union = sorted({need for needs, *_ in tools.values() for need in needs})
    manifest = {"btcp": "1.0", "name": set_name, "version": "1.0.0", "capabilities": union,
                "tools": listed}
    (folder / f"{set_name}.json").write_text(json.dumps(manifest))
    for name, (_, body, *_) in tools.items():
        text = body if "export default" in body else f"export default async (args) => {{ {body} }}"
        (folder / f"{name}.js").write_text(text)
    return f'[[source]]\nname = "{set_name}"\npath = "{set_name}.json"\n'


class Checks:
    def __init__(self):
        self.count = 0

    def value(self, result, expected, what):
        """A result that is compared with a value; of a text its value as JSON counts, too."""
        code, value = result
        if isinstance(value, dict) and set(value) == {"result"}:
            value = value["result"]
        value = json.loads(value) if isinstance(value, str) and not isinstance(expected, str) else value
        self.same((code, value), ("OK", expected), what)

    def same(self, found, expected, what):
        self.count += 1
        assert found == expected, f"{what}: {found!r} instead of {expected!r}"


def fill(text, other):
    return text.replace("{other}", other.origin).replace("{port}", str(other.server_address[1]))


@contextlib.contextmanager
def serving(tools, start, program, *words, more=""):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tools(folder, tools, start, program, more)
        client = Client(folder, *words)
        try:
            yield client
        finally:
            client.close()


def capabilities(tools):
    return ",".join(sorted({need for needs, *_ in tools.values() for need in needs}))


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)
