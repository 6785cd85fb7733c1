"""Three third-party servers, on standard streams and over HTTP, are listed, called and served.

Lists and results are compared with those that FastMCP's client gets from the servers directly.
"""

import asyncio
import base64
import concurrent.futures
import json
import sys

from peers import NO_ROOTS, UNSTABLE, Peers, Tally, connect, plain, plan

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()


async def linked(client, result):
    """What is behind the resource links and the embedded resources of a result."""
    pages = []
    for uri in [item["uri"] for item in (item.get("resource", item) for item in result["content"]) if "uri" in item]:
        pages.append(await read(client, uri))
    return pages


async def read(client, uri):
    """The resource at a URI. One that a call has made may be known a moment later, when the list is
    loaded again."""
    for attempt in range(20):
        try:
            page = await client.read_resource_mcp(uri)
            return plain(readable(page.model_dump(mode="json", by_alias=True, exclude_none=True)))
        except Exception as error:
            failure = f"{uri}: {error}"
            await asyncio.sleep(0.25)
    return failure


def readable(page):
    """A resource with its binary texts decoded: they contain the time."""
    for item in page["contents"]:
        if "blob" in item and item.get("mimeType") == "text/plain":
            item["blob"] = base64.b64decode(item["blob"]).decode()
    return page


def unnamed(value, name):
    """A result without the name of the source in URIs, which tells servers with the same URIs
    apart."""
    if isinstance(value, dict):
        return {key: unnamed(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [unnamed(item, name) for item in value]
    return value.removeprefix(f"toolwright+{name}:") if isinstance(value, str) else value


async def directly(source):
    """Names, calls and results, without Toolwright."""
    async with connect(source) as client:
        tools = [(tool.name, tool.name, tool.input_schema) for tool in await client.list_tools()]
        calls = plan(tools, {})
        for call in calls:
            result = await client.call_tool_mcp(call["name"], call["arguments"])
            call["result"] = plain(result.model_dump(mode="json", by_alias=True, exclude_none=True))
            call["linked"] = await linked(client, call["result"])
            # FastMCP's client does not make tasks; Toolwright does for a client that does not.
            call["needs_task"] = "requires task augmentation" in json.dumps(call["result"])
        return [name for name, _, _ in tools], calls


def listed_and_called(name, source, names, calls):
    """Lists, shows and calls the tools of a source on the command line."""
    given = [source] if isinstance(source, str) else ["--", *source]
    code, out, err = PEERS.run("list", *given)
    seen = [line.split()[0] for line in out.splitlines()]
    TALLY.check(code == 0 and sorted(seen) == sorted(names), f"{name}: listed {seen}, there are {names}\n{err}")
    start = ["--from", source] if isinstance(source, str) else ["--", *source]
    for call in calls:
        words = ["call", call["name"], "--json", "--args", json.dumps(call["arguments"]), *start]
        code, out, err = PEERS.run(*words)
        result = plain(json.loads(out)) if out else None
        what = f"{name}: {call['name']} gave {out}{err}, directly {call['result']}"
        if call["refused"]:
            # The command line has no model and asks nobody.
            TALLY.check(result and result["isError"] and call["refused"] in out, what)
        elif call["name"] == "get-roots-list":
            TALLY.check(NO_ROOTS in out, what)
        elif call["needs_task"]:
            TALLY.check(result and not result["isError"], what)
        elif call["name"] not in UNSTABLE:
            TALLY.check(result == call["result"], what)
        fails = call["fails"] or call["refused"]
        TALLY.check(code == (1 if fails else 0), f"{name}: {call['name']} exits with {code}")


async def served(how, source, direct):
    """All servers behind one `toolwright serve`."""
    async with connect(source) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        wanted = {f"{name}__{tool}": f"{name}:{tool}" for name, (names, _) in direct.items() for tool in names}
        seen = {name: (tool.meta or {}).get("toolwright/id") for name, tool in tools.items()}
        TALLY.check(seen == wanted, f"{how}: served {seen}, there are {wanted}")
        for name, (_, calls) in direct.items():
            for call in calls:
                result = await client.call_tool_mcp(f"{name}__{call['name']}", call["arguments"])
                result = plain(result.model_dump(mode="json", by_alias=True, exclude_none=True))
                if call["name"] not in UNSTABLE and not call["needs_task"]:
                    what = f"{how}: {name}__{call['name']} gave {result}, directly {call['result']}"
                    TALLY.check(unnamed(result, name) == call["result"], what)
                    pages = await linked(client, result)
                    what = f"{how}: {name}__{call['name']} links {pages}, directly {call['linked']}"
                    TALLY.check(unnamed(pages, name) == call["linked"], what)
                TALLY.check(result["isError"] == call["fails"], f"{how}: {name}__{call['name']} gave {result}")
        return len(tools)


async def main():
    with PEERS.sources() as sources:
        results = await asyncio.gather(*(directly(source) for source in sources.values()))
        direct = dict(zip(sources, results))
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            work = [pool.submit(listed_and_called, name, source, *direct[name]) for name, source in sources.items()]
            for done in work:
                done.result()
        config = PEERS.config(sources)
        await served("stdio", PEERS.serve("--config", config), direct)
        with PEERS.serving("--config", config) as url:
            count = await served("http", url, direct)
    TALLY.end(f"servers: {len(PEERS.servers)} servers in {len(sources)} ways, {count} tools listed, called and served")


asyncio.run(main())
