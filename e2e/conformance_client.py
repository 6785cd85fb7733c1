"""The client scenarios of the official conformance suite, with Toolwright as the client.

    conformance_client.py BINARY WORK             runs all scenarios
    conformance_client.py --client WAY URL        one client, started by the suite

A scenario is a server. The suite starts the client with the server's URL as the last argument, and
the name of the scenario, the revision and sometimes a context in variables. Here the client is

    serve: the Python SDK ─▶ `toolwright serve --from URL` ─▶ server of the suite
    cli:   `toolwright list URL`, or `toolwright call … --from URL`

Scenarios of `auth/*` are about sign-in and not included, nor is the extension for skills.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REVISIONS = ["2025-11-25", "2026-07-28"]
BINARY = "TOOLWRIGHT_BINARY"
NUMBERS = {"a": 5, "b": 3}
# What the command line does in the scenarios that need no more than one command. Arguments are
# JSON.
COMMANDS = {
    "initialize": ["list"],
    "tools_call": ["call", "add_numbers", NUMBERS],
    "sse-retry": ["call", "test_reconnection", {}],
    "request-metadata": ["list"],
    "json-schema-ref-no-deref": ["list"],
}


# The clients.


def command_line(scenario, url):
    words = COMMANDS[scenario]
    command = [os.environ[BINARY], "list", url]
    if words[0] == "call":
        command = [os.environ[BINARY], "call", words[1], "--args", json.dumps(words[2]), "--from", url]
    code = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=25).returncode
    # `list` ends with 1 if it lists a tool that cannot be used, as in json-schema-ref-no-deref: a
    # finding, and not a failure of the client.
    sys.exit(0 if (words[0], code) == ("list", 1) else code)


def serve(scenario, url):
    import asyncio

    import mcp_types as types
    from mcp import Client, MCPError, StdioServerParameters

    async def accept(_context, params):
        """Accepts a form as it is: with its defaults, and with `true` for what must be
        confirmed."""
        rules = params.requested_schema["properties"]
        content = {name: rule.get("default", True) for name, rule in rules.items()}
        return types.ElicitResult(action="accept", content=content)

    async def call(client, name, given):
        """Calls a tool. A `null` that Toolwright rejects, because the schema does not allow it, is
        left out."""
        result = await client.call_tool(name, given)
        if result.is_error and None in given.values():
            given = {key: value for key, value in given.items() if value is not None}
            result = await client.call_tool(name, given)
        print(name, result.model_dump_json())

    async def use(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        print(sorted(tools))
        if scenario == "tools_call":
            await call(client, "add_numbers", NUMBERS)
        elif scenario == "json-schema-2020-12-preservation":
            await call(client, "json_schema_echo", {"schema": tools["json_schema_2020_12_tool"].input_schema})
        elif scenario == "http-custom-headers":
            for each in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
                await call(client, each["name"], each["arguments"])
        elif scenario == "http-invalid-tool-headers":
            for tool in tools.values():
                await call(client, tool.name, {name: "x" for name in tool.input_schema["properties"]})
        elif scenario == "http-standard-headers":
            await call(client, "test_headers", {})
            for found in (await client.list_resources()).resources:
                try:
                    print(await client.read_resource(found.uri))
                except MCPError as error:
                    print(found.uri, error)
            for prompt in (await client.list_prompts()).prompts:
                print(await client.get_prompt(prompt.name))
        elif scenario not in ("initialize", "request-metadata", "json-schema-ref-no-deref"):
            await asyncio.gather(*(call(client, name, {}) for name in tools))

    async def main():
        is_modern = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"] == REVISIONS[-1]
        server = StdioServerParameters(command=os.environ[BINARY], args=["serve", "--from", url])
        mode = "auto" if is_modern else "legacy"
        async with Client(server, mode=mode, elicitation_callback=accept, read_timeout_seconds=20) as client:
            await use(client)

    asyncio.run(main())


# The driver.


def scenarios(suite, revision):
    run = subprocess.run([*suite, "list", "--client", "--spec-version", revision], capture_output=True, text=True)
    names = re.findall(r"^  - (\S+) \[", run.stdout, re.M)
    return [name for name in names if not name.startswith(("auth/", "sep-2640"))]


def run(suite, binary, revision, scenario, way):
    """Runs one scenario. Returns its checks, and the output of the suite if there is something
    wrong."""
    with tempfile.TemporaryDirectory() as folder:
        client = f"{sys.executable} {pathlib.Path(__file__).resolve()} --client {way}"
        which = ["--scenario", scenario, "--spec-version", revision, "--timeout", "30000"]
        # A home of its own, so that nothing is known about the servers from an earlier run.
        environment = {**os.environ, BINARY: binary, "HOME": folder, "XDG_CACHE_HOME": folder}
        done = subprocess.run(
            [*suite, "client", "--command", client, "--output-dir", folder, *which],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90, env=environment,
        )  # fmt: skip
        checks = [json.loads(path.read_text()) for path in pathlib.Path(folder).rglob("checks.json")]
        return done.returncode, sum(checks, []), done.stdout


def main():
    import yaml

    from peers import HERE, Peers, Tally

    peers, tally = Peers(sys.argv[1], sys.argv[2]), Tally()
    suite = [peers.node, str(peers.modules / "@modelcontextprotocol/conformance/dist/index.js")]
    expected = yaml.safe_load((HERE / "conformance-expected.yml").read_text())["client"] or []
    plans = [
        (revision, scenario, way)
        for revision in REVISIONS
        for scenario in scenarios(suite, revision)
        for way in ["serve", "cli"]
        if way == "serve" or scenario in COMMANDS
    ]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda plan: run(suite, peers.binary, *plan), plans))
    passed, used = 0, set()
    print("| revision | scenario | client | result |\n|---|---|---|---|")
    for (revision, scenario, way), (code, checks, output) in zip(plans, results):
        bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
        is_good = code == 0 and not bad and any(check["status"] == "SUCCESS" for check in checks)
        passed += is_good
        print(f"| {revision} | {scenario} | {way} | {'passed' if is_good else 'failed'} |")
        if is_good:
            tally.check(True, scenario)
        elif scenario in expected:
            used.add(scenario)
        else:
            why = [f"{check['id']}: {check.get('errorMessage') or check['description']}" for check in bad]
            tally.check(False, "\n  ".join([f"{revision}, {way}: {scenario}", *(why or [output[-1500:]])]))
    tally.check(used == set(expected), f"expected failures that nothing needs: {set(expected) - used}")
    tally.end(f"conformance of the client: {passed} of {len(plans)} scenario runs pass, {len(expected)} known failures")


if sys.argv[1] == "--client":
    {"serve": serve, "cli": command_line}[sys.argv[2]](os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[3])
else:
    main()
