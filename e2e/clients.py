"""Serves the examples and third-party servers, and runs the clients of both official SDKs against
them.

The plan, which a client gets as a file, lists what is served, where, and every call to make.
"""

import asyncio
import contextlib
import json
import subprocess
import sys

from peers import HERE, ROOT, Peers, connect, plan

PEERS = Peers(sys.argv[1], sys.argv[2])


async def tools(url):
    async with connect(url) as client:
        return [(tool.name, tool.meta["toolwright/id"], tool.input_schema) for tool in await client.list_tools()]


def main():
    with contextlib.ExitStack() as stack:
        sources = stack.enter_context(PEERS.sources())
        configs = {"examples": str(ROOT / "examples/toolwright.toml"), "foreign": PEERS.config(sources)}
        served = []
        for what, config in configs.items():
            url = stack.enter_context(PEERS.serving("--config", config))
            there = asyncio.run(tools(url))
            examples = PEERS.examples(config) if what == "examples" else {}
            served.append(
                {
                    "what": what,
                    "command": PEERS.serve("--config", config),
                    "url": url,
                    "names": [name for name, _, _ in there],
                    "calls": plan(there, examples),
                    # Sources with tools that report progress, hang, and count how often they were
                    # cancelled.
                    "counting": [name for name in sources if name.startswith("kinds")] if what == "foreign" else [],
                }
            )
        for each in served:
            compared = {call["source"] for call in each["calls"] if call["contains"]}
            missing = {call["source"] for call in each["calls"]} - compared
            assert each["calls"] and not missing, f"no value is compared of {missing or each['what']}"
        path = PEERS.work / "plan.json"
        path.write_text(json.dumps({"modules": str(PEERS.modules), "served": served}))
        runs = [[PEERS.python, str(HERE / "client_python.py")], [PEERS.node, str(HERE / "client_ts.mjs")]]
        codes = [subprocess.run([*run, str(path)], timeout=300).returncode for run in runs]
    sys.exit(max(codes))


main()
