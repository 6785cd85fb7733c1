"""BTCP tools on real pages: Debian's chromium and chromium-headless-shell, each with its own
Toolwright. Two servers on loopback: the site whose pages are worked on, and another one that counts
what reaches it.

    browser.py BINARY WORK
"""

import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time

from browser_setup import (
    BINARY, LONG, PROGRAMS, ROOT, SHORT, Checks, Client, HttpSession, Site, alive, browsers_of, capabilities,
    fill, serving, serving_http, wait_for, write_set, write_tools,
)

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
    "document.querySelector('#out').style.backgroundImage = 'url({other}/style)'",
    "document.querySelector('#out').setAttribute('style', 'background: url({other}/attribute)')",
    "document.querySelector('#out').setAttribute('onclick', 'fetch(\"{other}/handler\")')",
    "document.querySelector('#order').setAttribute('action', '{other}/form')",
    "(await fetch('/redirect')).status",
    "await btcp.websocket('/redirect', ['x'])",
    "await btcp.websocket('//127.0.0.1:{port}/socket', ['x'])",
    "Function('return this')().document.defaultView.fetch('{other}/function')",
    "document.querySelector('#out').innerHTML = '<link rel=preconnect href=\"{other}\"><link rel=stylesheet href=\"{other}/c\">'",
    "const l = document.createElement('link'); l.rel = 'preconnect'; l.href = '{other}'; document.head.append(l)",
    "document.querySelector('#out').innerHTML = '<meta http-equiv=refresh content=\"0;url={other}/refresh\">'",
    "document.querySelector('#out').innerHTML = '<style>@import \"{other}/import\";</style><base href=\"{other}/\">'",
    "document.querySelector('#out').innerHTML = '<svg><image href=\"{other}/svg\"/><use href=\"{other}/use#a\"/></svg>'",
    "document.querySelector('#out').innerHTML = '<video poster=\"{other}/poster\" src=\"{other}/video\"></video>'",
    "document.querySelector('#out').innerHTML = '<table background=\"{other}/background\"><td background=\"{other}/cell\">'",
    "document.querySelector('#out').innerHTML = '<object data=\"{other}/object\"></object><embed src=\"{other}/embed\">'",
    "document.querySelector('#out').innerHTML = '<input type=image src=\"{other}/input\"><img srcset=\"{other}/set 1x\">'",
    "document.querySelector('#out').innerHTML = '<a id=p href=/sheet?p ping=\"{other}/ping\">x</a>'; document.querySelector('#p').click()",
    "const a = document.createElement('a'); a.href = '{other}/link'; document.body.append(a); a.click()",
    "document.body.style.setProperty('--x', 'url({other}/variable)'); document.body.style.background = 'var(--x)'",
    "document.body.style.setProperty('background', 'image-set(\"{other}/set\" 1x)')",
    "document.body.style.cssText = 'list-style: url({other}/list)'",
    "document.body.setAttribute('background', '{other}/body')",
    "await navigator.serviceWorker.register('{other}/service.js')",
    "new SharedWorker('{other}/shared.js')",
    "await new WebTransport('https://127.0.0.1:{port}/transport').ready",
    "history.pushState(null, '', '{other}/pushed')",
    "document.write('<img src=\"{other}/written\">')",
    "document.querySelector('script').textContent = 'fetch(\"{other}/script\")'",
    "await btcp.dom.setAttribute('#near', 'href', '{other}/near')",
    "await btcp.dom.append('body', { $element: 999999 })",
    "await btcp.fetch('{other}/raw', { mode: 'no-cors', credentials: 'include' })",
    "await btcp.fetch('/redirect', { redirect: 'follow' })",
    # The last one: of the page it leaves what may be written.
    "document.body.innerHTML += '<img src=\"{other}/markup\"><link rel=prefetch href=\"{other}/l\">'",
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
            checks.value(client.call(f"set__may{n}"), expected, f"{need}: {body}")
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


# What each capability includes.
INCLUDED = {"dom:read": "dom:write", "storage:local:read": "storage:local:write",
            "storage:session:read": "storage:session:write",
            "storage:indexed:read": "storage:indexed:write",
            "network:fetch:same-origin": "network:fetch:cross-origin"}
# Every capability for whose operations there are rows above.
OF_OPERATIONS = sorted({need for need, *_ in ALLOWED})
# All that a body can change, and all that it can read.
STATE = """return { html: document.documentElement.outerHTML, local: { ...localStorage },
  session: { ...sessionStorage }, cookie: document.cookie,
  records: await btcp.storage.indexed.all('db', 's'),
  fields: [...document.forms[0].elements].map((it) => [it.value, it.checked ?? null]),
  focus: document.activeElement.tagName, copied: await navigator.clipboard.readText() }"""


def all_but(need):
    """Every capability of operations, without one and what includes it."""
    return [it for it in OF_OPERATIONS if it not in (need, INCLUDED.get(need))]


def nothing_granted(site, other, program, checks):
    """Each row of each capability, not declared although everything is granted, and not granted
    although everything else is: refused, and nothing shows that it was tried."""
    without = {f"without{n}": (all_but(need), fill(body, other)) for n, (need, body, _) in enumerate(ALLOWED)}
    grant = lambda name, needs: (
        f'[[grant]]\ntoolset = "{name}"\ncapabilities = {json.dumps(needs)}\norigins = ["*"]\n'
    )
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        both = f'origins = ["{site.origin}", "{other.origin}"]\n'
        lines = [both, write_set(folder, "undeclared", without), grant("undeclared", OF_OPERATIONS)]
        for n, (need, body, _) in enumerate(ALLOWED):
            tools = {f"only{n}": ([need], fill(body, other))}
            lines += [write_set(folder, f"ungranted{n}", tools), grant(f"ungranted{n}", all_but(need))]
        for kind in ["camera", "microphone", "screen"]:
            need = f"media:{kind}"
            tools = {kind: ([need], "return navigator.mediaDevices.getUserMedia({ video: true, audio: true })")}
            lines += [write_set(folder, f"un{kind}", tools), write_set(folder, f"may{kind}", tools)]
            lines.append(grant(f"may{kind}", [need]))
        lines += ['[[source]]\nname = "browser"\nbuiltin = "browser"\n', grant("set", OF_OPERATIONS)]
        write_tools(folder, {"state": (OF_OPERATIONS, STATE)}, site.origin + "/sheet", program, "".join(lines))
        client = Client(folder)
        try:
            code, before = client.call("set__state")
            checks.same(code, "OK", f"everything that can be seen: {before}")
            reached = site.requests[:], other.reached()
            for n, (need, body, _) in enumerate(ALLOWED):
                for tool in [f"undeclared__without{n}", f"ungranted{n}__only{n}"]:
                    code, error = client.call(tool)
                    found = code, error.get("number")
                    checks.same(found, ("CAPABILITY_DENIED", -32001), f"{tool}: {body}: {error}")
                    assert need in error["message"], error
            for kind in ["camera", "microphone", "screen"]:
                checks.same(client.call(f"un{kind}__{kind}")[0], "CAPABILITY_DENIED", kind)
                # There is no operation for it.
                checks.same(client.call(f"may{kind}__{kind}")[0], "TOOL_FAILED", f"{kind} with a grant")
            code, error = client.call("browser__open", {"url": site.origin + "/sheet?opened"})
            checks.same((code, error["number"]), ("CAPABILITY_DENIED", -32001), "page:navigate")
            checks.same(client.call("set__state"), ("OK", before), "what can be seen after all that")
            checks.same((site.requests, other.reached()), reached, "what was sent")
        finally:
            client.close()


def probes(site, other, program, checks):
    """Every way out: without a grant, with one for reading, and with all that the probes take but
    for other sites; in the end also with that."""
    tools = {f"probe{n}": (EVERYTHING_HERE, fill(body, other)) for n, body in enumerate(PROBES)}
    readers = {f"read{n}": (["dom:read"], fill(body, other)) for n, body in enumerate(PROBES)}
    beyond = [*EVERYTHING_HERE, "network:fetch:cross-origin", "network:websocket:cross-origin"]
    wide = {
        f"wide{n}": (beyond, fill(body, other)) for n, body in enumerate(PROBES)
        # These may do what they do then.
        if not body.startswith(("Function(", "await btcp.websocket('//", "await btcp.fetch('{other}"))
    }
    tools["bare"] = (["dom:read"], "return document.title")
    # Named, so that nothing but the missing capability keeps the probes from the other site.
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    reached = other.reached()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(other.server_address)
        datagrams.setblocking(False)
        with serving(tools, site.origin + "/sheet", program, "--allow", "dom:read", more=both) as client:
            for n in range(len(PROBES)):
                # A body that imports is not even loaded.
                refusals = ["CAPABILITY_DENIED", "QUARANTINED"]
                checks.same(client.call(f"set__probe{n}")[0] in refusals, True, f"not granted: {PROBES[n]}")
        for allowed in [{**tools, **readers}, wide]:
            allow = ("--allow", capabilities(allowed))
            allowed["bare"] = tools["bare"]
            with serving(allowed, site.origin + "/sheet", program, *allow, more=both) as client:
                for name in allowed:
                    client.call(f"set__{name}")
                    found = client.call("set__bare"), other.reached()
                    checks.same(found, (("OK", "Sheet"), reached), f"after {allowed[name][1]}")
                time.sleep(0.5)
        checks.same(other.reached(), reached, "what the probes sent to another site")
        with contextlib.suppress(BlockingIOError):
            raise AssertionError(f"a datagram got out: {datagrams.recv(1500)}")


def misbehaviour(site, other, program, checks):
    tools = {
        f"bad{n}": (["dom:write", "dom:observe"], body, SHORT if "TIMEOUT" in expected else LONG)
        for n, (body, expected) in enumerate(HOSTILE_BODIES)
    }
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
            assert time.monotonic() - began < 60, body
            if expected != "PAGE_LOST":
                checks.same(client.call("set__good")[0], "OK", f"the call after {body}")
    presses = {
        name: (["dom:write"], f"document.querySelector('#{name}').click(); "
               "await new Promise((done) => setTimeout(done, 100)); return document.title", SHORT)
        for name in ["loop", "micro", "dialogs"]
    }
    presses["good"] = tools["good"]
    with serving(presses, site.origin + "/loops", program, "--allow", capabilities(presses)) as client:
        checks.same(client.call("set__good"), ("OK", "Loops"), "a page")
        for name in ["loop", "micro", "dialogs"]:
            checks.same(client.call(f"set__{name}")[0], "TIMEOUT", f"a page whose code does not end: {name}")
            checks.same(client.call("set__good"), ("OK", "Loops"), f"the call after {name}")
    presses = {
        "memory": (["dom:write", "dom:observe"],
                   "document.querySelector('#memory').click(); await btcp.dom.observe('head', 60000)"),
        "good": tools["good"],
    }
    allow, more = ("--allow", capabilities(presses)), "memory = 800000000\n"
    with serving(presses, site.origin + "/loops", program, *allow, more=more) as client:
        checks.same(client.call("set__good"), ("OK", "Loops"), "a page with little memory")
        code, error = client.call("set__memory")
        checks.same((code, "`[browser] memory`" in error["message"]), ("SPAWN_FAILED", True), f"memory: {error}")
        checks.same(client.call("set__good"), ("OK", "Loops"), "the call after it")
    tools = {
        "good": tools["good"],
        "wait": (["dom:write", "dom:observe"], "document.querySelector('#out').textContent = 'waiting'; "
                 "return btcp.dom.observe('head', 60000)"),
        "out": (["dom:read"], "return document.querySelector('#out').textContent"),
    }
    kills = [
        ("the renderer is killed", "PAGE_LOST", signal.SIGKILL, lambda line: "--type=renderer" in line),
        # Without the shell around it, which removes the profile.
        ("the browser is killed", "SPAWN_FAILED", signal.SIGKILL,
         lambda line: not any(it in line for it in ["--type=", "/bin/sh"])),
        ("everything is killed", "SPAWN_FAILED", signal.SIGKILL, lambda line: True),
        ("everything is stopped", "SPAWN_FAILED", signal.SIGSTOP, lambda line: True),
    ]
    allow = ("--allow", capabilities(tools))
    with serving(tools, site.origin + "/sheet", program, *allow) as client:
        checks.same(client.call("set__good"), ("OK", "Sheet"), "a page")
        for what, expected, number, is_meant in kills:
            began = time.monotonic()
            client.send({"jsonrpc": "2.0", "id": what, "method": "tools/call",
                         "params": {"name": "set__wait", "arguments": {}}})
            wait_for(lambda: client.call("set__out") == ("OK", "waiting"), "the call has begun")
            for pid, line in client.browsers():
                if is_meant(line):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
            ended = client.results.pop(what, None) or client.await_message(lambda it: it.get("id") == what)
            error = ended["result"]["_meta"]["toolwright/error"]
            checks.same(error["code"], expected, f"{what}: {error}")
            assert time.monotonic() - began < 60, what
            checks.same(client.call("set__good"), ("OK", "Sheet"), f"the call after {what}")
        browsers = client.browsers()
        client.process.kill()
        wait_for(lambda: not any(alive(pid) for pid, _ in browsers), "no browser is left after kill -9")
        client.close = lambda: None
    written = "const out = document.querySelector('#out'); out.innerHTML = '<b>w</b><script>1<\\/script>'; " \
        "out.append('ritten'); out.style.color = 'red'; out.classList.add('x'); " \
        "return [out.textContent, out.innerHTML, out.style.color, out.className]"
    for path, title, text in [("/hostile", "Hostile", "true"), ("/strict", "Strict", "calm")]:
        tools = {
            "look": (["dom:read"], "return [document.title, document.querySelector('#out').textContent]"),
            "write": (["dom:write"], written),
        }
        with serving(tools, site.origin + path, program, "--allow", "dom:read,dom:write") as client:
            checks.value(client.call("set__look"), [title, text], path)
            checks.value(client.call("set__write"), ["written", "<b>w</b>ritten", "red", "x"], f"writing on {path}")


def in_workers(site, other, program, checks):
    """What the sandbox lacks: such bodies run in a worker, under the same table of capabilities."""
    tools = {f"able{n}": (needs, body) for n, (needs, body, _) in enumerate(IN_WORKER)}
    for n, (body, expected) in enumerate(WORKER_FAILURES):
        tools[f"fails{n}"] = (["dom:read"], WORKER + fill(body, other), SHORT if "TIMEOUT" in expected else LONG)
    for n, body in enumerate(WORKER_PROBES):
        tools[f"probe{n}"] = (EVERYTHING_HERE, WORKER + fill(body, other))
    tools["good"] = (["dom:read"], WORKER + "return document.title")
    both = f'origins = ["{site.origin}", "{other.origin}"]'
    allow = ("--allow", capabilities(tools))
    with serving(tools, site.origin + "/sheet", program, *allow, more=both) as client:
        for n, (needs, body, expected) in enumerate(IN_WORKER):
            checks.value(client.call(f"set__able{n}"), expected, f"in a worker, {needs}: {body}")
        before = (list(site.requests), list(other.requests))
        for n, (body, expected) in enumerate(WORKER_FAILURES):
            began = time.monotonic()
            code, error = client.call(f"set__fails{n}")
            checks.same(code in expected.split(), True, f"{body}: {code}, not {expected}: {error}")
            assert time.monotonic() - began < 60, body
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
        "loop": (["page:full"], "for (;;);", SHORT),
        "micro": (["page:full"], "for (;;) await 0", SHORT),
        "never": (["page:full"], "await new Promise(() => 1)", SHORT),
        "leave": (["page:full"], "location.href = '/sheet?left'; await new Promise(() => 1)", SHORT),
        "look": (["dom:read"], "return document.title"),
        "press": (["dom:write"], "document.querySelector('#talk').click()"),
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
        called = client.call("set__full", {"a": "BODY GIVEN LIMIT"})
        checks.value(called, ["taken", "BODY GIVEN LIMIT"], "in the page")
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
                # What is asked for is for all tools of the set, of which one clicks.
                checks.same("run the page's own code" in text, tool == "look", f"the words: {text}")
                checks.same(site.origin in text, True, f"the origin: {text}")
                client.send({"jsonrpc": "2.0", "id": question["id"],
                             "result": {"action": "accept", "content": {"decision": "once"}}})
                answer = client.await_message(lambda it: it.get("id") == tool)
                checks.same(bool(answer["result"].get("isError")), False, f"{tool}: {answer}")
        finally:
            client.close()
        shown = subprocess.run([str(BINARY), "show", str(folder / "set.json")], text=True, capture_output=True)
        checks.same("nothing it does there is enforced" in shown.stdout, True, f"show: {shown.stdout}")


@contextlib.contextmanager
def display():
    """A display of its own: the variables of programs that use it."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24", "-nolisten", "tcp", "-ac"]
    screen = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as numbers:
            yield {**os.environ, "DISPLAY": ":" + numbers.readline().strip()}
    finally:
        screen.terminate()
        screen.wait()


def in_a_window(site, program, checks):
    """With a window, on a display of its own: calls, and the commands for people."""
    if "headless" in program:
        return
    with display() as environment, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Root starts the browser as another user, who must reach the profile.
        folder.chmod(0o755)
        tools = {"title": (["dom:read"], "return document.title"), "able": ([], IN_WORKER[0][1]),
                 "cookies": (["storage:cookie:read"], "return document.cookie")}
        more = f'headless = false\nprofile = "{folder}/profile"\n'
        write_tools(folder, tools, site.origin + "/sheet", program, more)
        allow = ("--allow", "dom:read,storage:cookie:read")
        client = Client(folder, *allow, environment=environment)
        try:
            checks.same(client.call("set__title"), ("OK", "Sheet"), "in a window")
            checks.same(any("--headless" in line for _, line in client.browsers()), False, "it is one")
            checks.same(client.call("set__able"), ("OK", "1.234,5"), "a worker beside a window")
            checks.same("signed" in client.call("set__cookies")[1], False, "not signed in yet")
        finally:
            client.close()
        for action in ["login", "open"]:
            before = len(site.requests)
            command = [str(BINARY), "browser", action, site.origin + "/signed"]
            shown = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
            said = shown.stderr.readline()
            checks.same("the page is open" in said, True, f"browser {action}: {said}")
            checks.same("GET /signed" in site.requests[before:], True, f"browser {action} opens it")
            browsers = browsers_of(shown.pid)
            checks.same(len(browsers) > 0, True, "there is a browser")
            checks.same(any("--headless" in line for _, line in browsers), False, "in a window")
            shown.send_signal(signal.SIGINT)
            shown.wait(timeout=60)
            wait_for(lambda: not any(alive(pid) for pid, _ in browsers), "the window is closed")
        # What a person signed in to is there afterwards, also without a window.
        write_tools(folder, tools, site.origin + "/sheet", program, f'profile = "{folder}/profile"\n')
        client = Client(folder, *allow)
        try:
            checks.same("signed=in" in client.call("set__cookies")[1], True, "signed in")
            checks.same(all("--headless" in line for _, line in client.browsers() if "--type=" not in line),
                        True, "without a window")
        finally:
            client.close()


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
            code, opened = client.call("browser__open", {"url": site.origin + "/strict", "new_tab": True})
            checks.same((code, [tab["current"] for tab in opened["tabs"]]), ("OK", [False, True]), "another tab")
            code, left = client.call("browser__close", {"tab": opened["tabs"][1]["tab"]})
            checks.same((code, [tab["title"] for tab in left["tabs"]]), ("OK", ["Sheet"]), "it is closed")
            checks.same(client.call("browser__close", {"tab": 99})[0], "TOOL_FAILED", "a tab that is not there")
            refused = client.call("browser__open", {"url": other.origin + "/sheet"})[0]
            checks.same(refused, "CAPABILITY_DENIED", "an origin that is not allowed")
            client.call("browser__open", {"url": site.origin + "/webmcp"})
            wanted = {"webmcp__add_numbers", "webmcp__read_desk", "webmcp__fails", "webmcp__order_tea"}
            wait_for(lambda: wanted <= set(client.tools()), "the tools of the page")
            checks.same(client.call("webmcp__add_numbers", {"a": 2, "b": 3}), ("OK", "5"), "a tool of the page")
            checks.same(client.call("webmcp__read_desk"), ("OK", "a lamp"), "another one")
            checks.same(client.call("webmcp__add_numbers", {"a": 2})[0], "INPUT_INVALID", "wrong arguments")
            checks.same(client.call("webmcp__fails")[0] in ["TOOL_FAILED", "ERROR"], True, "one that fails")
            checks.same(client.tools()["webmcp__order_tea"]["inputSchema"]["required"], ["kind"], "the form's schema")
            checks.same(client.call("webmcp__order_tea")[0], "INPUT_INVALID", "a form without its field")
            before = len(site.requests)
            called = client.call("webmcp__order_tea", {"kind": "green"})
            wait_for(lambda: "GET /ordered?kind=green" in site.requests[before:], f"the form is sent: {called}")
            checks.same(client.call("webmcp__read_desk")[0] != "OK", True, "the page is another one")
            client.call("browser__open", {"url": site.origin + "/sheet"})
            wait_for(lambda: not wanted & set(client.tools()), "the tools are gone")
            checks.same("notifications/tools/list_changed" in client.notices, True, "the client is told")
            client.call("browser__open", {"url": site.origin + "/webmcp"})
            wait_for(lambda: wanted <= set(client.tools()), "the tools are there again")
            client.call("browser__open", {"url": site.origin + "/sheet"})
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


def surroundings(site, program, checks):
    """The browser sees no secrets of ours, does not run as root, and leaves nothing behind."""
    tools = {"title": (["dom:read"], "return document.title")}
    environment = {**os.environ, "SOME_TOKEN": "hidden-7261"}
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(name)
        # Like /tmp: whoever made a folder there may remove it.
        os.chmod(temporary, 0o1777)
        write_tools(folder, tools, site.origin + "/sheet", program)
        client = Client(folder, "--allow", "dom:read", environment={**environment, "TMPDIR": temporary})
        try:
            checks.same(client.call("set__title"), ("OK", "Sheet"), "a call")
            for pid, line in client.browsers():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    seen = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                    checks.same(b"hidden-7261" in seen, False, f"a secret in the environment of {line}")
                    checks.same(os.stat(f"/proc/{pid}").st_uid == 0, False, f"root runs {line}")
            checks.same(len(os.listdir(temporary)), 1, "the profile, and nothing beside it")
        finally:
            client.close()
        checks.same(os.listdir(temporary), [], "what is left of it")
        client = Client(folder, "--allow", "dom:read", environment={**environment, "TMPDIR": temporary})
        client.close = lambda: None
        checks.same(client.call("set__title"), ("OK", "Sheet"), "a call")
        client.process.kill()
        wait_for(lambda: os.listdir(temporary) == [], "nothing is left after kill -9")


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
                [str(BINARY), *words], cwd=name, env=environment, text=True, capture_output=True, timeout=120
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


def demo(checks):
    """The part of `make demo` that works on a page, with the programs that lie beside this one."""
    command = [str(ROOT / "examples/demo"), str(BINARY.parent)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120)
    checks.same(shown.returncode, 0, f"the demo: {shown.stderr}")
    _, _, part = shown.stdout.partition("Tools that work on a page")
    for text, where in [("/docs", part), ('"previous"', part), ("CAPABILITY_DENIED", shown.stderr)]:
        checks.same(text in where, True, f"{text} in the demo: {where}")


def main():
    other = Site()
    site = Site(other.origin)
    for program in PROGRAMS:
        checks, began = Checks(), time.monotonic()
        seed_samples(site, program, checks)
        every_capability(site, other, program, checks)
        nothing_granted(site, other, program, checks)
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
        surroundings(site, program, checks)
        limits(site, program, checks)
        commands(site, program, checks)
        if program == PROGRAMS[-1]:
            demo(checks)
        print(f"browser: {program}: {checks.count} checks in {time.monotonic() - began:.0f} s")


main()
