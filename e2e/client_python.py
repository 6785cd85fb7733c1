"""FastMCP's client lists and calls everything in the plan: on standard streams and over HTTP, with
the newest revision and with the handshake of the older ones."""

import asyncio
import json
import pathlib
import sys

from peers import Tally, connect

PLAN = json.loads(pathlib.Path(sys.argv[1]).read_text())
TALLY = Tally()


async def calls(client, served, where):
    names = [tool.name for tool in await client.list_tools()]
    TALLY.check(sorted(names) == sorted(served["names"]), f"{where}: served {names}, wanted {served['names']}")
    for call in served["calls"]:
        try:
            result = await client.call_tool_mcp(call["name"], call["arguments"])
        except Exception as error:
            TALLY.check(False, f"{where}: {call['name']} raised {error!r}")
            continue
        text = json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)
        TALLY.check(result.is_error == call["fails"], f"{where}: {call['name']} gave {text}")
        if call["contains"]:
            TALLY.check(call["contains"] in text, f"{where}: {call['name']} lacks `{call['contains']}`: {text}")


async def questions(client, served, where):
    """A client that cannot answer the questions of a tool gets an error that states it."""
    for call in served["calls"]:
        if call["refused"]:
            result = await client.call_tool_mcp(call["name"], call["arguments"])
            text = json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)
            is_told = result.is_error and call["refused"] in text
            TALLY.check(is_told, f"{where}: {call['name']} lacks `{call['refused']}`: {text}")


async def progress(client, source, where):
    seen = []

    async def handler(done, total, message):
        seen.append((done, total, message))

    await client.call_tool_mcp(f"{source}__count", {"to": 5}, progress_handler=handler)
    wanted = [(done, 5, f"{done} of 5") for done in range(1, 6)]
    TALLY.check(seen == wanted, f"{where}: {source} reported {seen} on the way to 5")


async def cancellation(client, source, where):
    async def cancelled():
        return (await client.call_tool_mcp(f"{source}__hung", {})).structured_content["result"]

    before = await cancelled()
    hanging = asyncio.create_task(client.call_tool_mcp(f"{source}__hang", {}))
    await asyncio.sleep(0.5)
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    for _ in range(50):
        after = await cancelled()
        if after > before:
            break
        await asyncio.sleep(0.1)
    TALLY.check(after == before + 1, f"{where}: a cancelled call of {source} went on ({before}, then {after})")


async def main():
    revisions = set()
    for how, source in [("stdio", "command"), ("http", "url")]:
        for mode in ["auto", "legacy"]:
            for served in PLAN["served"]:
                where = f"{how}, {mode}, {served['what']}"
                async with connect(served[source], mode) as client:
                    revisions.add(client.protocol_version)
                    await calls(client, served, where)
                    for name in served["counting"]:
                        await progress(client, name, where)
                        await cancellation(client, name, where)
                async with connect(served[source], mode, {}) as client:
                    await questions(client, served, f"{where}, without answers")
    TALLY.check(len(revisions) == 2, f"only {revisions} were spoken")
    tools = sum(len(served["names"]) for served in PLAN["served"])
    TALLY.end(f"python client: {tools} tools on stdio and http, {' and '.join(sorted(revisions))}")


asyncio.run(main())
