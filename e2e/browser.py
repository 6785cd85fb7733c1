"""BTCP tools on real pages: Debian's chromium and chromium-headless-shell, each with its own
Toolwright. Two servers on loopback: the site whose pages are worked on, and another one that counts
what reaches it.

    browser.py BINARY WORK
"""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
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

RENDERED = """<!doctype html><title>Shop</title><div id="app"></div><script>
document.getElementById("app").innerHTML = "<main><h1>Lamps</h1><p>Written by a script.</p></main>";
</script>"""

# A page with another tool of the same name.
DESK = WEBMCP.replace("required: ['a', 'b']", "required: ['a']")

PAGES = {"/desk": DESK, "/rendered": RENDERED, "/sheet": SHEET, "/hostile": HOSTILE, "/strict": STRICT, "/webmcp": WEBMCP}


class Site(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A site on loopback, which remembers the requests that reach it."""

    daemon_threads = True

    def __init__(self, other=None):
        self.requests, self.other = [], other
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


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


# The body of a cell's tool, in the manner of the specification's sample.
CELL = """export default function getCellValue({ cell }) {
  const element = findCellElement(cell);
  if (!element) {
    throw new BTCPError('CELL_NOT_FOUND', { message: `there is no cell ${cell}` });
  }
  return {
    value: extractValue(element),
    formula: extractFormula(element),
    displayValue: element.textContent,
  };
}
"""
# What the sample calls and does not define.
CELL_HELPERS = """
const findCellElement = (cell) => document.querySelector(`[data-cell="${cell}"]`);
const extractValue = (element) => Number(element.textContent) || element.innerText;
const extractFormula = (element) => element.dataset.formula ?? null;
const extractFormatting = (element) => ({ bold: getComputedStyle(element).fontWeight > 500 });
"""


def cell_body():
    """The specification's own sample, unchanged, where its text is at hand; else ours."""
    shared = os.environ.get("TOOLWRIGHT_SHARED")
    if not shared:
        print("browser: the specification's own sample is not run: TOOLWRIGHT_SHARED is not set")
        return CELL + CELL_HELPERS
    text = (pathlib.Path(shared) / "seeds/btcp-tool.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```javascript\n")[1:]]
    return next(block for block in blocks if "getCellValue" in block) + CELL_HELPERS


FILL = """export default function fillFormField({ identifier, value, identifierType = 'auto' }) {
  const byLabel = () => [...document.querySelectorAll('label')]
    .find((label) => label.textContent.trim() === identifier)?.control;
  const field = document.getElementById(identifier) ?? document.getElementsByName(identifier)[0]
    ?? byLabel();
  if (!field) throw new BTCPError('NO_FIELD', { message: identifier });
  const previousValue = field.value;
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  return { success: field.value === value, fieldType: field.tagName.toLowerCase(), previousValue };
}"""
EXPORT = """export default async function exportTable({ selector }) {
  const table = document.querySelector(selector);
  const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  await navigator.clipboard.writeText(rows.map((row) => row.join(',')).join('\\n'));
  return { success: true, rowCount: rows.length, columnCount: rows[0].length };
}"""

# What each capability allows: expression, and what it returns.
ALLOWED = [
    ("dom:read", "return [document.title, document.querySelector('#data-table td').textContent, "
     "document.forms.length, document.getElementsByName('size')[0].value]", ["Sheet", "Tea", 1, "M"]),
    ("dom:read", "return document.querySelectorAll('tbody tr').map((row) => row.cells[1].innerText)",
     ["42", "7"]),
    ("dom:write", "const out = document.getElementById('out'); out.textContent = 'a'; "
     "out.classList.add('hot'); out.style.color = 'red'; out.dataset.x = 1; "
     "return [out.textContent, out.className, out.style.color, out.dataset.x]", ["a", "hot", "red", "1"]),
    ("dom:write", "const out = document.querySelector('#out'); "
     "out.innerHTML = '<b>x</b><img src=x onerror=alert(1)><script>1<\\/script>'; "
     "return out.innerHTML", "<b>x</b>"),
    ("dom:write", "const out = document.querySelector('#out'); out.textContent = ''; "
     "const b = document.createElement('b'); b.append('bold'); out.append('plain ', b); "
     "return out.innerHTML", "plain <b>bold</b>"),
    ("dom:write", "document.querySelector('[name=agree]').checked = true; "
     "document.querySelector('select').selectedIndex = 0; "
     "return [document.querySelector('[name=agree]').checked, document.querySelector('select').value]",
     [True, "S"]),
    ("dom:observe", "return btcp.dom.observe('body', 10)", []),
    ("dom:shadow", "return btcp.dom.shadow('#host').then((it) => typeof it.$element)", "number"),
    ("storage:local:read", "return localStorage.getItem('kept')", "yes"),
    ("storage:local:write", "localStorage.setItem('b', '2'); return localStorage.b", "2"),
    ("storage:session:read", "return sessionStorage.tab", "mine"),
    ("storage:session:write", "sessionStorage.removeItem('x'); return sessionStorage.length", 1),
    ("storage:indexed:read", "return btcp.storage.indexed.get('db', 's', 'k')", {"n": 1}),
    ("storage:indexed:write", "await btcp.storage.indexed.put('db', 's', 5, 'five'); "
     "return btcp.storage.indexed.get('db', 's', 'five')", 5),
    ("storage:cookie:read", "return document.cookie", "visible=1"),
    ("storage:cookie:write", "document.cookie = 'made=1'; return 1", 1),
    ("network:fetch:same-origin", "const r = await fetch('/data', { method: 'POST', body: 'b' }); "
     "return [r.status, await r.json()]", [200, {"path": "/data", "body": "b"}]),
    ("network:fetch:cross-origin", "return (await fetch('{other}/asked')).status", 200),
    ("network:websocket:same-origin", "return btcp.websocket('/live', ['a', 'b'], { answers: 2 })",
     ["echo a", "echo b"]),
    ("network:websocket:cross-origin", "return btcp.websocket('ws://127.0.0.1:{port}/live', ['c'])",
     ["echo c"]),
    ("clipboard:write", "await navigator.clipboard.writeText('copied'); return 1", 1),
    ("clipboard:read", "return navigator.clipboard.readText()", "copied"),
]
# What is refused to a tool that declares only the first, and must reach nothing.
REFUSED = [
    ("dom:read", "document.getElementById('out').textContent = 'no'"),
    ("dom:read", "document.querySelector('#talk').click()"),
    ("dom:read", "document.querySelector('#order').submit()"),
    ("dom:read", "await btcp.dom.setHTML('#out', '<b>no</b>')"),
    ("dom:read", "localStorage.setItem('no', '1')"),
    ("dom:read", "document.cookie"),
    ("dom:read", "await fetch('/data')"),
    ("dom:read", "await fetch('{other}/leak')"),
    ("dom:read", "await navigator.clipboard.readText()"),
    ("dom:read", "await btcp.storage.indexed.databases()"),
    ("dom:read", "await btcp.dom.observe('body', 1)"),
    ("network:fetch:same-origin", "await fetch('{other}/leak')"),
    ("network:fetch:same-origin", "await fetch('//127.0.0.1:{port}/leak')"),
    ("network:fetch:same-origin", "document.title"),
    ("network:fetch:cross-origin", "await btcp.websocket('/live', ['x'])"),
    ("network:websocket:same-origin", "await btcp.websocket('ws://127.0.0.1:{port}/leak', ['x'])"),
    ("network:websocket:cross-origin", "await fetch('{other}/leak')"),
    ("storage:local:read", "localStorage.clear()"),
    ("clipboard:write", "await btcp.clipboard.read()"),
]
# Ways out that do not exist, with everything declared but requests to other sites.
PROBES = [
    "new XMLHttpRequest().open('GET', '{other}/xhr')",
    "new WebSocket('ws://127.0.0.1:{port}/ws')",
    "new EventSource('{other}/events')",
    "navigator.sendBeacon('{other}/beacon')",
    "new Image().src = '{other}/image'",
    "await import('{other}/module.js')",
    "new Worker('{other}/worker.js')",
    "new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:{port}' }] })",
    "location.href = '{other}/moved'",
    "window.open('{other}/popup')",
    "const i = document.createElement('iframe'); i.src = '{other}/frame'; document.body.append(i)",
    "const i = document.createElement('img'); i.src = '{other}/img'; document.body.append(i)",
    "const i = document.createElement('img'); i.src = '/redirect?x'; document.body.append(i)",
    "const f = document.createElement('form'); f.action = '/redirect'; document.body.append(f); f.submit()",
    "const f = document.querySelector('#order'); f.action = '/redirect?x'; f.submit()",
    "document.body.innerHTML += '<img src=\"{other}/markup\"><link rel=prefetch href=\"{other}/l\">'",
    "document.querySelector('#out').style.backgroundImage = 'url({other}/style)'",
    "document.querySelector('#out').setAttribute('style', 'background: url({other}/attribute)')",
    "document.querySelector('#out').setAttribute('onclick', 'fetch(\"{other}/handler\")')",
    "document.querySelector('#order').setAttribute('action', '{other}/form')",
    "(await fetch('/redirect')).status",
    "await btcp.websocket('/redirect', ['x'])",
    "await btcp.websocket('//127.0.0.1:{port}/socket', ['x'])",
    "Function('return this')().document.defaultView.fetch('{other}/function')",
]
EVERYTHING_HERE = ["dom:write", "dom:shadow", "storage:local:write", "storage:session:write",
                   "network:fetch:same-origin", "network:websocket:same-origin", "clipboard:write"]
# Bodies that misbehave: code, and the code of the failure.
HOSTILE_BODIES = [
    ("for (;;) document.title", "CALL_LIMIT TIMEOUT"),
    ("for (;;);", "TIMEOUT"),
    ("for (;;) await 0", "TIMEOUT"),
    ("const all = []; for (;;) all.push(new Array(1e5).fill(document.title))", "TOOL_FAILED"),
    ("await new Promise(() => 1)", "OUTPUT_INVALID"),
    ("await btcp.dom.observe('body', 1e9)", "TIMEOUT"),
    ("document.querySelector('#away').click(); for (let n = 0; n < 200; n++) "
     "{ document.title; await new Promise((r) => setTimeout(r, 20)); }", "PAGE_LOST"),
]

# Bodies that use what the sandbox lacks, so that they run in a worker: capabilities, body, result.
IN_WORKER = [
    ([], "return new Intl.NumberFormat('de').format(1234.5)", "1.234,5"),
    ([], "const bytes = new TextEncoder().encode(args.text ?? 'a'); "
     "const hash = await crypto.subtle.digest('SHA-256', bytes); "
     "return [...new Uint8Array(hash)].slice(0, 3)", [202, 151, 129]),
    ([], "const m = await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); "
     "return String(m)", "[object WebAssembly.Module]"),
    ([], "let n = 0; await new Promise((done) => { const t = setInterval(() => { "
     "if (++n === 3) { clearInterval(t); done(); } }, 1); }); return n", 3),
    ([], "return new URL('../x?y=1', 'https://a.test/b/c').href", "https://a.test/x?y=1"),
    (["dom:read"], "const price = Number(document.querySelector('[data-cell=B2]').textContent); "
     "return new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).format(price)",
     "42,00\u00a0\u20ac"),
    (["dom:read"], "const all = await Promise.all(['A2', 'B2'].map((it) => "
     "btcp.dom.text(`[data-cell=${it}]`))); return [...all, structuredClone({ n: 1 }).n]",
     ["Tea", "42", 1]),
    (["dom:write"], "const out = document.getElementById('out'); out.textContent = btoa('in'); "
     "out.classList.add('done'); return [out.innerText, out.className]", ["aW4=", "done"]),
    (["storage:local:read"], "return [btoa(localStorage.getItem('kept')), localStorage.length > 0]",
     ["eWVz", True]),
    (["network:fetch:same-origin"], "const r = await fetch('/data'); "
     "return [r.status, new TextEncoder().encode((await r.json()).path).length]", [200, 5]),
    # The names are those of the sandbox and of pages, and those that the sandbox lacks.
    (["dom:read"], "new Intl.Locale('de'); return [typeof Intl, typeof document, typeof indexedDB, typeof XMLHttpRequest, "
     "typeof WebSocket, typeof importScripts, typeof Worker, typeof postMessage, typeof caches, "
     "navigator.onLine, location.pathname, typeof TOOLWRIGHT]",
     ["object", "object", "undefined", "undefined", "undefined", "undefined", "undefined",
      "undefined", "undefined", True, "/sheet", "undefined"]),
]
WORKER = "new Intl.Locale('de'); "
# The same bodies in a worker, with the code of the failure.
WORKER_FAILURES = [
    ("document.getElementById('out').textContent = 'no'", "CAPABILITY_DENIED"),
    ("await btcp.dom.setText('#out', 'no')", "CAPABILITY_DENIED"),
    ("await fetch('/data')", "CAPABILITY_DENIED"),
    ("await fetch('{other}/leak')", "CAPABILITY_DENIED"),
    ("document.cookie", "CAPABILITY_DENIED"),
    ("await navigator.clipboard.readText()", "CAPABILITY_DENIED"),
    ("throw new BTCPError('OWN', { message: 'own' })", "TOOL_FAILED"),
    ("null.x", "TOOL_FAILED"),
    ("document.write('x')", "TOOL_FAILED"),
    ("return { big: 1n }", "OUTPUT_INVALID"),
    ("return { f() {} }", "OUTPUT_INVALID"),
    ("return undefined", "OUTPUT_INVALID"),
    ("return 'x'.repeat(2e6)", "OUTPUT_TOO_LARGE"),
    ("for (;;);", "TIMEOUT"),
    ("for (;;) await 0", "TIMEOUT"),
    ("for (;;) document.title", "CALL_LIMIT TIMEOUT"),
    ("await new Promise(() => 1)", "TIMEOUT"),
    ("/(a+)+$/.test('a'.repeat(50) + 'b')", "TIMEOUT"),
    ("const all = []; const f = () => { all.push(new Uint8Array(1 << 24).fill(1)); "
     "setTimeout(f, 1); }; f(); await new Promise(() => 1)", "TIMEOUT TOOL_FAILED"),
]
# Bodies that get back, through prototypes, what was removed from their globals.
WORKER_PROBES = [
    "const get = () => import('{other}/imported'); await get()",
    "await Function(\"return import('{other}/function')\")()",
    "await fetch('{other}/facade')",
    "const f = Object.getPrototypeOf(async () => 1).constructor; await f(\"return fetch('{other}/raw')\")()",
    "const s = new Blob(['x']).stream(); for (const k of Reflect.ownKeys(globalThis)) "
    "{ try { await globalThis[k]?.('{other}/any-' + String(k)); } catch {} }",
    "new OffscreenCanvas(1, 1).getContext('2d').fillStyle = 'url({other}/paint)'",
    "await WebAssembly.compileStreaming(fetch('{other}/wasm'))",
    "new URL('{other}/url'); new Request('{other}/request')",
]


class Client:
    """A client of `toolwright serve` on standard streams."""

    def __init__(self, folder, *words, offers=None):
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
        command = [str(BINARY), "serve", "--config", str(folder / "toolwright.toml"), *words]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment, cwd=folder,
        )
        self.number = 0
        self.log, self.notices = [], []
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
        found, wanted = [], {self.process.pid}
        listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
        rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
        for _ in range(6):
            wanted |= {int(pid) for pid, parent, *_ in rows if int(parent) in wanted}
        for pid, _, *command in rows:
            if int(pid) in wanted and command and "chrom" in command[0]:
                found.append((int(pid), command[0]))
        return found

    def close(self):
        pids = [pid for pid, _ in self.browsers()]
        self.process.stdin.close()
        self.process.wait(timeout=20)
        end = time.monotonic() + 10
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
        process.wait(timeout=20)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def write_tools(folder, tools, start, program, more=""):
    """A manifest with these tools, name: (capabilities, body), and its configuration."""
    listed = [
        {"name": name, "description": "A tool of the browser tests.", "capabilities": needs,
         "inputSchema": {"type": "object"}, "timeout": 4000}
        for name, (needs, _) in tools.items()
    ]
    union = sorted({need for needs, _ in tools.values() for need in needs})
    manifest = {"btcp": "1.0", "name": "set", "version": "1.0.0", "capabilities": union, "tools": listed}
    (folder / "set.json").write_text(json.dumps(manifest))
    for name, (_, body) in tools.items():
        text = body if "export default" in body else f"export default async (args) => {{ {body} }}"
        (folder / f"{name}.js").write_text(text)
    (folder / "toolwright.toml").write_text(
        f'[browser]\nprogram = "{program}"\nstart = "{start}"\n{more}\n'
        '[[source]]\nname = "set"\npath = "set.json"\n'
    )


class Checks:
    def __init__(self):
        self.count = 0

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
    return ",".join(sorted({need for needs, _ in tools.values() for need in needs}))


def seed_samples(site, program, checks):
    tools = {
        "getCellValue": (["dom:read"], cell_body()),
        "getPageTitle": (["dom:read"], "export default () => ({ title: document.title });"),
        "fillFormField": (["dom:read", "dom:write"], FILL),
        "exportTable": (["dom:read", "clipboard:write"], EXPORT),
    }
    with serving(tools, site.origin + "/sheet", program, "--allow", capabilities(tools)) as client:
        cell = {"value": 42, "formula": "=2*21", "displayValue": "42"}
        checks.same(client.call("set__getCellValue", {"cell": "B2"}), ("OK", cell), "the seed's sample")
        code, error = client.call("set__getCellValue", {"cell": "Z9"})
        checks.same((code, error["btcpCode"]), ("TOOL_FAILED", "CELL_NOT_FOUND"), "its error")
        checks.same(client.call("set__getPageTitle"), ("OK", {"title": "Sheet"}), "the title")
        for identifier, kind, before in [("E-mail", "input", ""), ("note", "textarea", "none"), ("size", "select", "M")]:
            filled = {"success": True, "fieldType": kind, "previousValue": before}
            value = "S" if kind == "select" else "x"
            found = client.call("set__fillFormField", {"identifier": identifier, "value": value})
            checks.same(found, ("OK", filled), f"filling {identifier}")
        exported = {"success": True, "rowCount": 3, "columnCount": 2}
        checks.same(client.call("set__exportTable", {"selector": "#data-table"}), ("OK", exported), "the table")


def every_capability(site, other, program, checks):
    tools = {}
    for n, (need, body, _) in enumerate(ALLOWED):
        tools[f"may{n}"] = ([need], fill(body, other))
    for n, (need, body) in enumerate(REFUSED):
        tools[f"not{n}"] = ([need], fill(body, other))
    # Both sites are on this machine, whose addresses must be named.
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    allow = ("--allow", capabilities(tools))
    with serving(tools, site.origin + "/sheet", program, *allow, more=both) as client:
        for n, (need, body, expected) in enumerate(ALLOWED):
            code, value = client.call(f"set__may{n}")
            if isinstance(value, dict) and set(value) == {"result"}:
                value = value["result"]
            value = json.loads(value) if isinstance(value, str) and not isinstance(expected, str) else value
            checks.same((code, value), ("OK", expected), f"{need}: {body}")
        before = (list(site.requests), list(other.requests))
        for n, (need, body) in enumerate(REFUSED):
            code, error = client.call(f"set__not{n}")
            checks.same((code, error["number"]), ("CAPABILITY_DENIED", -32001), f"{need}: {body}: {error}")
        checks.same((site.requests, other.requests), before, "requests of what was refused")
    # Nothing granted: refused before anything is done, with the command that grants it.
    with serving({"look": (["dom:read"], "return document.title")}, site.origin + "/sheet", program) as client:
        code, error = client.call("set__look")
        checks.same(code, "CAPABILITY_DENIED", "without a grant")
        assert f"--origin {site.origin}" in error["suggestion"], error
    # A grant for another origin does not hold here; one for this does; one for all does.
    for origin, expected in [(other.origin, "CAPABILITY_DENIED"), (site.origin, "OK"), ("*", "OK")]:
        grant = f'[[grant]]\ntoolset = "set"\ncapabilities = ["dom:read"]\norigins = ["{origin}"]\n'
        tools = {"look": (["dom:read"], "return document.title")}
        with serving(tools, site.origin + "/sheet", program, more=grant) as client:
            checks.same(client.call("set__look")[0], expected, f"a grant for {origin}")


def probes(site, other, program, checks):
    tools = {f"probe{n}": (EVERYTHING_HERE, fill(body, other)) for n, body in enumerate(PROBES)}
    tools["bare"] = (["dom:read"], "return document.title")
    other.requests.clear()
    # Named, so that nothing but the missing capability keeps the probes from the other site.
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    allow = ("--allow", capabilities(tools))
    with serving(tools, site.origin + "/sheet", program, *allow, more=both) as client:
        for n in range(len(PROBES)):
            client.call(f"set__probe{n}")
        checks.same(client.call("set__bare")[0], "OK", "the page after the probes")
        time.sleep(0.5)
    checks.same(other.requests, [], "what the probes sent to another site")


def misbehaviour(site, other, program, checks):
    tools = {f"bad{n}": (["dom:write", "dom:observe"], body) for n, (body, _) in enumerate(HOSTILE_BODIES)}
    tools["good"] = (["dom:read"], "return document.title")
    tools["talk"] = (["dom:write"], "document.querySelector('#talk').click(); "
                     "return document.querySelector('#out').textContent")
    tools["large"] = (["dom:write"], "const out = document.querySelector('#out'); "
                      "out.textContent = 'x'.repeat(900000); return out.textContent + out.textContent")
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    with serving(tools, site.origin + "/sheet", program, "--allow", capabilities(tools), more=both) as client:
        checks.same(client.call("set__talk")[0], "OK", "a dialog")
        checks.same(client.call("set__large")[0], "OUTPUT_TOO_LARGE", "a huge result")
        for n, (body, expected) in enumerate(HOSTILE_BODIES):
            began = time.monotonic()
            code, error = client.call(f"set__bad{n}")
            checks.same(code in expected.split(), True, f"{body}: {code}, not {expected}: {error}")
            assert time.monotonic() - began < 30, body
            if expected != "PAGE_LOST":
                checks.same(client.call("set__good")[0], "OK", f"the call after {body}")
    with serving(tools, site.origin + "/sheet", program, "--allow", capabilities(tools)) as client:
        checks.same(client.call("set__good")[0], "OK", "a page")
        for pid, command in client.browsers():
            if "--type=renderer" in command:
                os.kill(pid, signal.SIGKILL)
        codes = [client.call("set__good")[0] for _ in range(3)]
        checks.same(codes[-1], "OK", f"after the renderer was killed: {codes}")
        pids = [pid for pid, _ in client.browsers()]
        client.process.kill()
        end = time.monotonic() + 10
        while any(alive(pid) for pid in pids):
            assert time.monotonic() < end, "a browser is left after kill -9"
            time.sleep(0.05)
        client.close = lambda: None
    for path, title, text in [("/hostile", "Hostile", "true"), ("/strict", "Strict", "calm")]:
        tools = {"look": (["dom:read"], "return [document.title, document.querySelector('#out').textContent]")}
        with serving(tools, site.origin + path, program, "--allow", "dom:read") as client:
            code, value = client.call("set__look")
            value = value["result"] if isinstance(value, dict) and "result" in value else json.loads(value)
            checks.same((code, value), ("OK", [title, text]), path)


def in_workers(site, other, program, checks):
    """What the sandbox lacks: such bodies run in a worker, under the same table of capabilities."""
    tools = {f"able{n}": (needs, body) for n, (needs, body, _) in enumerate(IN_WORKER)}
    for n, (body, _) in enumerate(WORKER_FAILURES):
        tools[f"fails{n}"] = (["dom:read"], WORKER + fill(body, other))
    for n, body in enumerate(WORKER_PROBES):
        tools[f"probe{n}"] = (EVERYTHING_HERE, WORKER + fill(body, other))
    tools["good"] = (["dom:read"], WORKER + "return document.title")
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    allow = ("--allow", capabilities(tools))
    with serving(tools, site.origin + "/sheet", program, *allow, more=both) as client:
        for n, (needs, body, expected) in enumerate(IN_WORKER):
            code, value = client.call(f"set__able{n}")
            if isinstance(value, dict) and set(value) == {"result"}:
                value = value["result"]
            value = json.loads(value) if isinstance(value, str) and not isinstance(expected, str) else value
            checks.same((code, value), ("OK", expected), f"in a worker, {needs}: {body}")
        before = (list(site.requests), list(other.requests))
        for n, (body, expected) in enumerate(WORKER_FAILURES):
            began = time.monotonic()
            code, error = client.call(f"set__fails{n}")
            checks.same(code in expected.split(), True, f"{body}: {code}, not {expected}: {error}")
            assert time.monotonic() - began < 30, body
            if code == "CAPABILITY_DENIED":
                checks.same(error["number"], -32001, body)
            if "OWN" in body:
                checks.same(error["btcpCode"], "OWN", body)
            checks.same(client.call("set__good"), ("OK", "Sheet"), f"the call after {body}")
        for n in range(len(WORKER_PROBES)):
            client.call(f"set__probe{n}")
        checks.same(client.call("set__good"), ("OK", "Sheet"), "the call after the probes")
        time.sleep(0.5)
        checks.same((site.requests, other.requests), before, "what left the workers")
    # Without a browser a body says which name it needs one for.
    tools = {"format": ([], IN_WORKER[0][1])}
    with serving(tools, site.origin + "/sheet", "/nonexistent/chromium") as client:
        code, error = client.call("set__format")
        checks.same((code, "`Intl`" in error["message"]), ("BROWSER_REQUIRED", True), "without a browser")


def page_itself(site, other, program, checks):
    """`page:full`: asked for alone, and then not held to anything but its limits."""
    listen = "document.addEventListener('x', () => 1); document.createRange(); "
    tools = {
        "full": (["page:full"], listen + "document.title = 'taken'; return [document.title, args.a ?? null]"),
        "reach": (["page:full"], f"await fetch('{other.origin}/reached', {{ mode: 'no-cors' }}); return 1"),
        "own": (["page:full"], "throw new BTCPError('OWN', { message: 'own' })"),
        "large": (["page:full"], "return 'x'.repeat(2e6)"),
        "loop": (["page:full"], "for (;;);"),
        "micro": (["page:full"], "for (;;) await 0"),
        "never": (["page:full"], "await new Promise(() => 1)"),
        "leave": (["page:full"], "location.href = '/sheet?left'; await new Promise(() => 1)"),
        "look": (["dom:read"], "return document.title"),
    }
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    start = site.origin + "/sheet"
    # Everything else granted is not enough, and leaves no trace.
    rest = ",".join(["dom:read", "dom:write", "network:fetch:cross-origin", "page:navigate"])
    with serving(tools, start, program, "--allow", rest, more=both) as client:
        checks.same(client.call("set__look"), ("OK", "Sheet"), "a tool beside it")
        before = len(other.requests)
        for name in ["full", "reach"]:
            code, error = client.call(f"set__{name}")
            checks.same((code, error["number"]), ("CAPABILITY_DENIED", -32001), f"{name}: {error}")
            assert "`page:full`" in error["message"], error
        checks.same(client.call("set__look"), ("OK", "Sheet"), "the page was not touched")
        checks.same(len(other.requests), before, "nothing was sent")
    with serving(tools, start, program, "--allow", "page:full,dom:read", more=both) as client:
        code, value = client.call("set__full", {"a": "BODY GIVEN LIMIT"})
        value = value.get("result", value) if isinstance(value, dict) else json.loads(value)
        checks.same((code, value), ("OK", ["taken", "BODY GIVEN LIMIT"]), "in the page")
        checks.same(client.call("set__look"), ("OK", "taken"), "it was the page")
        before = len(other.requests)
        checks.same(client.call("set__reach")[0], "OK", "it reaches what the page does")
        checks.same(len(other.requests), before + 1, "which is not held")
        code, error = client.call("set__own")
        checks.same((code, error["btcpCode"]), ("TOOL_FAILED", "OWN"), "its error")
        checks.same(client.call("set__large")[0], "OUTPUT_TOO_LARGE", "its output is")
        for name, expected in [("loop", "TIMEOUT"), ("micro", "TIMEOUT"), ("never", "TIMEOUT"), ("leave", "PAGE_LOST")]:
            code, error = client.call(f"set__{name}")
            checks.same(code, expected, f"{name}: {error}")
            checks.same(client.call("set__look"), ("OK", "Sheet"), f"the call after {name}")
    # Of another origin than the grant is for.
    for origin, expected in [(other.origin, "CAPABILITY_DENIED"), (site.origin, "OK")]:
        grant = f'[[grant]]\ntoolset = "set"\ncapabilities = ["page:full"]\norigins = ["{origin}"]\n'
        with serving(tools, start, program, more=grant) as client:
            checks.same(client.call("set__full")[0], expected, f"page:full for {origin}")
    # A policy of the page that allows no scripts.
    with serving(tools, site.origin + "/strict", program, "--allow", "page:full") as client:
        checks.same(client.call("set__full")[0], "OK", "under a strict policy")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tools(folder, tools, start, program, both)
        client = Client(folder, offers={"elicitation": {}})
        try:
            for tool, asked, not_asked in [("look", "dom:read", "page:full"), ("full", "page:full", "dom:read")]:
                client.send({"jsonrpc": "2.0", "id": tool, "method": "tools/call",
                             "params": {"name": f"set__{tool}", "arguments": {}}})
                question = client.await_message(lambda it: it.get("method") == "elicitation/create")
                text = question["params"]["message"]
                checks.same((asked in text, not_asked in text), (True, False), f"asked for {asked} alone: {text}")
                checks.same("nothing holds it" in text, tool == "full", f"the words: {text}")
                client.send({"jsonrpc": "2.0", "id": question["id"],
                             "result": {"action": "accept", "content": {"decision": "once"}}})
                answer = client.await_message(lambda it: it.get("id") == tool)
                checks.same(bool(answer["result"].get("isError")), False, f"{tool}: {answer}")
        finally:
            client.close()
        shown = subprocess.run([str(BINARY), "show", str(folder / "set.json")], text=True, capture_output=True)
        checks.same("nothing it does there is enforced" in shown.stdout, True, f"show: {shown.stdout}")


def in_a_window(site, program, checks):
    """With a window, on a display of its own."""
    if not shutil.which("Xvfb"):
        print("browser: no window is tried: `Xvfb` is not installed (package xvfb)")
        return
    if "headless" in program:
        return
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24", "-nolisten", "tcp", "-ac"]
    screen = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        display = ":" + os.fdopen(reading).readline().strip()
        before = os.environ.get("DISPLAY")
        os.environ["DISPLAY"] = display
        tools = {"title": (["dom:read"], "return document.title"), "able": ([], IN_WORKER[0][1])}
        with serving(tools, site.origin + "/sheet", program, "--allow", "dom:read", more="headless = false\n") as client:
            checks.same(client.call("set__title"), ("OK", "Sheet"), "in a window")
            checks.same(any("--headless" in line for _, line in client.browsers()), False, "it is one")
            checks.same(client.call("set__able"), ("OK", "1.234,5"), "a worker beside a window")
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before
    finally:
        screen.terminate()
        screen.wait()


def matched_origins(site, other, program, checks):
    tools = {"look": (["dom:read"], "return document.title")}
    for origin, expected in [(site.origin, "OK"), (other.origin, "BROWSER_REQUIRED")]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_tools(folder, tools, site.origin + "/sheet", program)
            manifest = json.loads((folder / "set.json").read_text())
            (folder / "set.json").write_text(json.dumps({**manifest, "match": [origin]}))
            client = Client(folder, "--allow", "dom:read")
            try:
                checks.same(client.call("set__look")[0], expected, f"match {origin}")
            finally:
                client.close()


def page_tools(site, other, program, checks):
    """The built-in tools, and those of a page itself."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "toolwright.toml").write_text(
            f'[browser]\nprogram = "{program}"\norigins = ["{site.origin}"]\n'
            '[[source]]\nname = "browser"\nbuiltin = "browser"\n'
            '[[source]]\nname = "webmcp"\nbuiltin = "webmcp"\n'
        )
        client = Client(folder, "--allow", "page:navigate,dom:read,dom:write")
        try:
            checks.same(client.call("browser__read")[0], "BROWSER_REQUIRED", "before a page is open")
            code, opened = client.call("browser__open", {"url": site.origin + "/sheet"})
            checks.same((code, opened["tabs"][0]["title"]), ("OK", "Sheet"), "open")
            code, text = client.call("browser__read")
            checks.same((code, "Tea" in text), ("OK", True), "read")
            checks.same(client.call("browser__screenshot"), ("OK", "image/png"), "screenshot")
            checks.same(client.call("browser__wait", {"selector": "#out"})[0], "OK", "wait")
            refused = client.call("browser__open", {"url": other.origin + "/sheet"})[0]
            checks.same(refused, "CAPABILITY_DENIED", "an origin that is not allowed")
            client.call("browser__open", {"url": site.origin + "/webmcp"})
            wanted = {"webmcp__add_numbers", "webmcp__read_desk", "webmcp__fails", "webmcp__order_tea"}
            wait_for(lambda: wanted <= set(client.tools()), "the tools of the page")
            checks.same(client.call("webmcp__add_numbers", {"a": 2, "b": 3}), ("OK", "5"), "a tool of the page")
            checks.same(client.call("webmcp__read_desk"), ("OK", "a lamp"), "another one")
            checks.same(client.call("webmcp__add_numbers", {"a": 2})[0], "INPUT_INVALID", "wrong arguments")
            checks.same(client.call("webmcp__fails")[0] in ["TOOL_FAILED", "ERROR"], True, "one that fails")
            client.call("browser__open", {"url": site.origin + "/sheet"})
            wait_for(lambda: not wanted & set(client.tools()), "the tools are gone")
            checks.same("notifications/tools/list_changed" in client.notices, True, "the client is told")
            code, tabs = client.call("browser__back")
            checks.same((code, tabs["tabs"][0]["title"]), ("OK", "Desk"), "back")
        finally:
            client.close()


def sessions(site, other, program, checks):
    """Each session has the tools of its own page, judged by its own page's schema."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "toolwright.toml").write_text(
            f'[browser]\nprogram = "{program}"\norigins = ["{site.origin}"]\n'
            '[[source]]\nname = "browser"\nbuiltin = "browser"\n'
            '[[source]]\nname = "webmcp"\nbuiltin = "webmcp"\n'
        )
        with serving_http(folder, "--allow", "page:navigate,dom:read,dom:write") as address:
            one, two, three = (HttpSession(address) for _ in range(3))
            own = lambda session: {it for it in session.tools() if it.startswith("webmcp")}
            four = {"webmcp__add_numbers", "webmcp__read_desk", "webmcp__fails", "webmcp__order_tea"}
            one.call("browser__open", {"url": site.origin + "/webmcp"})
            wait_for(lambda: own(one) == four, "the tools of the first session")
            checks.same((own(two), own(three)), (set(), set()), "the tools of sessions without a page")
            checks.same(two.call("webmcp__read_desk")[0], "NO_TOOL", "a tool of another session")
            two.call("browser__open", {"url": site.origin + "/desk"})
            changed = (four - {"webmcp__add_numbers"}) | {"webmcp__add_numbers_2"}
            wait_for(lambda: own(two) == changed, "the tools of the second session")
            checks.same(own(one), four, "those of the first stay")
            checks.same(own(three), set(), "those of the third stay")
            checks.same(one.call("webmcp__add_numbers", {"a": 2})[0], "INPUT_INVALID", "the first schema")
            checks.same(two.call("webmcp__add_numbers_2", {"a": 2})[0], "OK", "the second schema")
            checks.same(one.call("webmcp__add_numbers_2", {"a": 2})[0], "NO_TOOL", "not its own")
            checks.same(one.call("webmcp__add_numbers", {"a": 2, "b": 3}), ("OK", "5"), "its own")
            # The same tool on the pages of two sessions is one entry, which each has by itself.
            three.call("browser__open", {"url": site.origin + "/webmcp"})
            wait_for(lambda: own(three) == four, "the tools of the third session")
            one.call("browser__open", {"url": site.origin + "/sheet"})
            wait_for(lambda: own(one) == set(), "no tools any more")
            checks.same(own(three), four, "the third still has them")


def granted_origins(site, other, program, checks):
    """What tells of pages, or loads them, is granted by their origin; private ones must be named."""
    rest = (
        '[[source]]\nname = "browser"\nbuiltin = "browser"\n'
        f'[[grant]]\ntoolset = "browser"\ncapabilities = ["page:navigate", "dom:read"]\norigins = ["{site.origin}"]\n'
    )
    tools = {"away": (["dom:write"], "document.querySelector('#away').click()")}
    more = f'origins = ["{site.origin}", "{other.origin}"]\n{rest}' \
        f'[[grant]]\ntoolset = "set"\ncapabilities = ["dom:write"]\norigins = ["*"]\n'
    with serving(tools, site.origin + "/sheet", program, more=more) as client:
        client.call("set__away")
        shown = lambda: client.call("browser__tabs")[1]["tabs"][0]
        wait_for(lambda: shown().get("origin") == other.origin, "the page of another origin")
        checks.same(shown(), {"tab": 1, "origin": other.origin, "current": True}, "a page that is not granted")
        code, tabs = client.call("browser__back")
        checks.same((code, tabs["tabs"][0]["title"]), ("OK", "Sheet"), "back to what is granted")
        client.call("set__away")
        wait_for(lambda: shown().get("origin") == other.origin, "the page of another origin")
        code, tabs = client.call("browser__open", {"url": site.origin + "/sheet?3"})
        checks.same((code, tabs["tabs"][0]["url"]), ("OK", site.origin + "/sheet?3"), "open")
        before = len(other.requests)
        checks.same(client.call("browser__back")[0], "CAPABILITY_DENIED", "back to what is not granted")
        checks.same(len(other.requests), before, "nothing was loaded")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "toolwright.toml").write_text(f'[browser]\nprogram = "{program}"\n{rest}')
        before = len(site.requests)
        client = Client(folder)
        try:
            code, error = client.call("browser__open", {"url": site.origin + "/sheet"})
            checks.same(code, "CAPABILITY_DENIED", "a private address that is not named")
            assert "this machine or its network" in error["message"], error
            checks.same(len(site.requests), before, "nothing was sent to it")
        finally:
            client.close()


def switched_meanwhile(site, other, program, checks):
    """What is granted for one page is not used on another, to which the agent switches meanwhile."""
    tools = {"title": (["dom:read"], "return document.title")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tools(folder, tools, site.origin + "/sheet", program, (
            f'origins = ["{site.origin}", "{other.origin}"]\n'
            '[[source]]\nname = "browser"\nbuiltin = "browser"\n'
            '[[grant]]\ntoolset = "browser"\ncapabilities = ["page:navigate"]\norigins = ["*"]\n'
        ))
        client = Client(folder, offers={"elicitation": {}})
        try:
            client.call("browser__open", {"url": site.origin + "/sheet"})
            code, tabs = client.call("browser__open", {"url": other.origin + "/hostile", "new_tab": True})
            checks.same((code, len(tabs["tabs"])), ("OK", 2), "two tabs")
            for tool in ["set__title", "browser__read", "browser__screenshot", "browser__wait"]:
                client.call("browser__switch", {"tab": 1})
                arguments = {"selector": "body"} if tool == "browser__wait" else {}
                client.send({"jsonrpc": "2.0", "id": tool, "method": "tools/call",
                             "params": {"name": tool, "arguments": arguments}})
                question = client.await_message(lambda it: it.get("method") == "elicitation/create")
                assert site.origin in question["params"]["message"], question
                checks.same(client.call("browser__switch", {"tab": 2})[0], "OK", "a switch meanwhile")
                client.send({"jsonrpc": "2.0", "id": question["id"],
                             "result": {"action": "accept", "content": {"decision": "once"}}})
                answer = client.await_message(lambda it: it.get("id") == tool)
                error = answer["result"].get("_meta", {}).get("toolwright/error", {})
                checks.same(error.get("code"), "PAGE_LOST", f"{tool} on the other page: {answer}")
        finally:
            client.close()


def limits(site, program, checks):
    """A browser that nobody uses, or that grows too large, is ended; the next call works."""
    tools = {"title": (["dom:read"], "return document.title")}
    start = site.origin + "/sheet"
    with serving(tools, start, program, "--allow", "dom:read", more="idle = 1000\n") as client:
        checks.same(client.call("set__title")[0], "OK", "a call")
        wait_for(lambda: not client.browsers(), "the idle browser is ended")
        checks.same(client.call("set__title")[0], "OK", "the call after it")
    grow = "for (let n = 0; n < 2000; n++) await new Promise((done) => setTimeout(done, 10));"
    tools = {"title": (["dom:read"], f"{grow} return document.title")}
    with serving(tools, start, program, "--allow", "dom:read", more="memory = 67108864\n") as client:
        code, error = client.call("set__title")
        wait_for(lambda: any("more than the 64 MiB" in line for line in client.log), "the browser is too large")
        wait_for(lambda: not client.browsers(), "it is ended")


def wait_for(condition, what):
    end = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def examples(program, checks):
    """The manifests of the examples, each on its page."""
    handler = lambda *words: http.server.SimpleHTTPRequestHandler(*words, directory=ROOT / "examples/btcp")
    http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    seat = {"guest": "Ada", "price": 30, "shown": "Ada"}
    change = {"success": True, "previousGuest": None, "newGuest": "Lise"}
    selected = {"range": "B1:B2", "rows": 1, "columns": 2, "guests": [["Grace", "Ada"]]}
    copied = {"success": True, "rowCount": 3, "columnCount": 2, "byteSize": 31}
    calls = {
        ("page-tools", "page.html"): [
            ("listLinks", {"contains": "docs", "limit": 1},
             {"links": [{"text": "Docs", "href": origin + "/docs"}]}),
            ("fillField", {"field": "E-mail", "value": "ada@example.org"}, {"previous": ""}),
        ],
        ("seat-plan", "seat-plan.html"): [
            ("getPlanTitle", {}, {"title": "Seats for the spring dinner"}),
            ("getSeat", {"seat": "B2"}, seat),
            ("setSeat", {"seat": "A1", "guest": "Lise"}, change),
            ("getSelectedSeats", {}, selected),
            ("copyPlan", {"selector": "#seats"}, copied),
        ],
    }
    for (name, page), rows in calls.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "toolwright.toml").write_text(
                f'[browser]\nprogram = "{program}"\nstart = "{origin}/{page}"\n[[source]]\n'
                f'name = "{name}"\npath = "{ROOT}/examples/btcp/{name}.json"\n'
            )
            client = Client(folder, "--allow", "dom:read,dom:write,clipboard:write")
            try:
                for tool, arguments, expected in rows:
                    checks.same(client.call(f"{name}__{tool}", arguments), ("OK", expected), tool)
            finally:
                client.close()
    server.shutdown()


def commands(site, program, checks):
    """The commands for people: a page as Markdown after its scripts, and the tools it offers."""
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "toolwright.toml").write_text(f'[browser]\nprogram = "{program}"\n')

        def run(*words):
            environment = {**os.environ, "XDG_STATE_HOME": name}
            return subprocess.run(
                [str(BINARY), *words], cwd=name, env=environment, text=True, capture_output=True, timeout=60
            )

        private = run("md", "--browser", site.origin + "/rendered")
        checks.same((private.returncode != 0, "this machine or its network" in private.stderr), (True, True),
                    f"md --browser of a private address: {private.stderr}")
        plain = run("md", "--browser", "--allow-private", site.origin + "/rendered")
        checks.same(plain.stdout, "# Lamps\n\nWritten by a script.\n", f"md --browser {plain.stderr}")
        listed = run("browser", "tools", site.origin + "/webmcp")
        checks.same("read_desk" in listed.stdout, True, f"browser tools: {listed.stdout}{listed.stderr}")
        missing = run("browser", "tools", "ftp://127.0.0.1/")
        checks.same(missing.returncode != 0 and missing.stderr != "", True, "an address of another kind")


def main():
    other = Site()
    site = Site(other.origin)
    for program in PROGRAMS:
        checks, began = Checks(), time.monotonic()
        seed_samples(site, program, checks)
        every_capability(site, other, program, checks)
        probes(site, other, program, checks)
        misbehaviour(site, other, program, checks)
        in_workers(site, other, program, checks)
        page_itself(site, other, program, checks)
        in_a_window(site, program, checks)
        matched_origins(site, other, program, checks)
        examples(program, checks)
        page_tools(site, other, program, checks)
        sessions(site, other, program, checks)
        granted_origins(site, other, program, checks)
        switched_meanwhile(site, other, program, checks)
        limits(site, program, checks)
        commands(site, program, checks)
        print(f"browser: {program}: {checks.count} checks in {time.monotonic() - began:.0f} s")


main()
