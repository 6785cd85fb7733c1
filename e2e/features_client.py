"""Uses every feature of server-everything with the client of the official Python SDK, and prints
what it saw.

    features_client.py MODE EVERYTHING FIXTURE

MODE is that of the SDK: `auto` for the newest revision, `legacy` for the handshake. The servers are
URLs or commands as JSON. The output is a JSON object with a value for each feature; a value with
the member `error` is a feature that does not work, and `null` one that the revision does not have.
"""

import asyncio
import json
import os
import sys
import time
import warnings

import mcp_types as types
from mcp import Client, MCPDeprecationWarning, StdioServerParameters
from mcp.client.stdio import stdio_client

MODE, EVERYTHING, FIXTURE = sys.argv[1], *map(json.loads, sys.argv[2:4])
TEXT = "demo://resource/dynamic/text/7"
DOCUMENT = "demo://resource/static/document/architecture.md"
META = {"example.org/e2e": "grüße"}
SEEN, FOUND = [], {}


async def sampled(_context, params):
    content = types.TextContent(type="text", text=f"sampled: {params.messages[0].content.text}")
    return types.CreateMessageResult(role="assistant", content=content, model="none", stop_reason="endTurn")


async def elicited(_context, params):
    SEEN.append(("asked", sorted(params.requested_schema["properties"])))
    return types.ElicitResult(action="accept", content={"name": "Alice", "check": True})


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///e2e", name="e2e")])


async def handler(message):
    SEEN.append((getattr(message, "method", ""), getattr(message, "params", None)))


def client(server, **more):
    if not isinstance(server, str):
        parameters = StdioServerParameters(command=server[0], args=server[1:], env=dict(os.environ))
        server = stdio_client(parameters, errlog=open(os.devnull, "w"))
    return Client(
        server, mode=MODE, sampling_callback=sampled, elicitation_callback=elicited, list_roots_callback=roots,
        message_handler=handler, cache=None, read_timeout_seconds=30, **more,
    )  # fmt: skip


def dump(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def appears(method, seconds=4):
    """Waits for a notification. Returns whether it has arrived."""
    for _ in range(int(seconds * 20)):
        if any(name == method for name, _ in SEEN):
            return True
        await asyncio.sleep(0.05)
    return {"error": f"no {method}"}


async def note(feature, probe):
    """Runs a probe. What it raises is the value."""
    SEEN.clear()
    try:
        FOUND[feature] = await asyncio.wait_for(probe, 20)
    except Exception as error:
        FOUND[feature] = {"error": str(error) or repr(error)}


async def refused(probe):
    """Whether an error is reported, in a result or otherwise."""
    try:
        return getattr(await probe, "is_error", False) or {"error": "no error was reported"}
    except Exception:
        return True


async def features(c):
    is_modern = c.protocol_version == "2026-07-28"

    async def call(name, given=None, **more):
        return dump(await c.call_tool(name, given or {}, **more))

    async def listed(what, member, key):
        return sorted(item[key] for item in dump(await what())[member])

    async def annotated_tools():
        tools = dump(await c.list_tools())["tools"]
        return {tool["name"]: [tool.get("annotations"), tool.get("title"), tool.get("outputSchema")] for tool in tools}

    async def progress():
        steps = []

        async def step(done, total, _message):
            steps.append([done, total])

        await call("trigger-long-running-operation", {"duration": 0.4, "steps": 4}, progress_callback=step)
        await asyncio.sleep(0.2)
        return steps

    async def cancelled():
        began = time.monotonic()
        running = asyncio.create_task(call("trigger-long-running-operation", {"duration": 30, "steps": 1}))
        await asyncio.sleep(0.5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return [await call("echo", {"message": "still there"}), time.monotonic() - began < 5]

    async def logged(level):
        """The levels of the log messages of a server that logs at a random level."""
        meta = {"io.modelcontextprotocol/logLevel": level} if is_modern else None
        if not is_modern:
            await c.set_logging_level(level)
        await call("toggle-simulated-logging", meta=meta)
        await appears("notifications/message", 1.5)
        await call("toggle-simulated-logging", meta=meta)
        return [params.level for method, params in SEEN if method == "notifications/message"]

    async def log():
        return bool(await logged("debug")) or {"error": "no log message"}

    async def log_level():
        levels = await logged("emergency")
        return set(levels) <= {"emergency"} or {"error": f"{levels} although the level is emergency"}

    async def updated():
        if is_modern:
            async with c.listen(resource_subscriptions=[TEXT]) as stream:
                await call("toggle-subscriber-updates")
                event = await asyncio.wait_for(anext(stream), 4)
                await call("toggle-subscriber-updates")
                return event.uri == TEXT
        await c.subscribe_resource(TEXT)
        await call("toggle-subscriber-updates")
        found = await appears("notifications/resources/updated")
        await call("toggle-subscriber-updates")
        await c.unsubscribe_resource(TEXT)
        return found

    async def changed():
        given = {"name": "e2e.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resourceLink"}
        if is_modern:
            async with c.listen(resources_list_changed=True) as stream:
                link = await call("gzip-file-as-resource", given)
                found = type(await asyncio.wait_for(anext(stream), 4)).__name__ == "ResourcesListChanged"
        else:
            link = await call("gzip-file-as-resource", given)
            found = await appears("notifications/resources/list_changed")
        uri = link["content"][0]["uri"]
        is_listed = uri in await listed(c.list_resources, "resources", "uri")
        return found and [uri, is_listed, dump(await c.read_resource(uri))["contents"][0].get("mimeType")]

    async def elicitation():
        result = await call("trigger-elicitation-request")
        return [[what for name, what in SEEN if name == "asked"], result]

    async def complete(ref, name, value, **context):
        done = await c.complete(ref, {"name": name, "value": value}, context_arguments=context or None)
        return dump(done)["completion"]["values"]

    async def read(uri):
        return dump(await c.read_resource(uri))["contents"]

    prompt = types.PromptReference(type="ref/prompt", name="completable-prompt")
    template = types.ResourceTemplateReference(type="ref/resource", uri="demo://resource/dynamic/text/{resourceId}")
    research = {"resourceType": "Text", "resourceId": "7"}
    probes = {
        "instructions": constant(c.instructions),
        "tools/list": listed(c.list_tools, "tools", "name"),
        "tools/list: annotations, titles, output schemas": annotated_tools(),
        "tools/call": call("echo", {"message": "grüße"}),
        "structured content": call("get-structured-content", {"location": "Chicago"}),
        "image": call("get-tiny-image"),
        "resource links": call("get-resource-links", {"count": 3}),
        "embedded resource": call("get-resource-reference", {"resourceType": "Text", "resourceId": 7}),
        "annotations of content": call("get-annotated-message", {"messageType": "error", "includeImage": True}),
        "progress": progress(),
        "cancellation": cancelled(),
        "long call": call("trigger-long-running-operation", {"duration": 2, "steps": 2}),
        "error in a result": refused(c.call_tool("get-sum", {"a": "x"})),
        "unknown tool": refused(c.call_tool("none", {})),
        "logging": log(),
        "logging: level": log_level(),
        "resources/list": listed(c.list_resources, "resources", "uri"),
        "resources/templates/list": listed(c.list_resource_templates, "resourceTemplates", "uriTemplate"),
        "resources/read": read(DOCUMENT),
        "resources/read: template, text": read(TEXT),
        "resources/read: template, blob": read("demo://resource/dynamic/blob/7"),
        "unknown resource": refused(c.read_resource("demo://none")),
        "subscription, update": updated(),
        "list of resources changes": changed(),
        "prompts/list": listed(c.list_prompts, "prompts", "name"),
        "prompts/get": got(c, "simple-prompt"),
        "prompts/get: arguments": got(c, "args-prompt", {"city": "Oslo", "state": "Ohio"}),
        "prompts/get: embedded resource": got(c, "resource-prompt", research),
        "completion of a prompt": complete(prompt, "department", "S"),
        "completion with context": complete(prompt, "name", "A", department="Engineering"),
        "completion of a template": complete(template, "resourceId", "7"),
        "sampling": call("trigger-sampling-request", {"prompt": "Hi", "maxTokens": 10}),
        "elicitation": elicitation(),
        "roots": call("get-roots-list"),
    }
    for feature, probe in probes.items():
        await note(feature, probe)
    # The SDK has no tasks.
    FOUND["task"] = None
    FOUND["ping"] = None
    if not is_modern:
        await note("ping", constant(dump(await c.send_ping())))


async def constant(value):
    return value


async def got(c, name, given=None):
    return dump(await c.get_prompt(name, given))["messages"]


async def main():
    async with client(EVERYTHING) as c:
        FOUND["revision"] = c.protocol_version
        # The server asks for the roots a moment after the handshake.
        await asyncio.sleep(0.6)
        await features(c)
    async with client(FIXTURE) as c:
        await note("audio", c.call_tool("test_audio_content", {}))
        FOUND["audio"] = dump(FOUND["audio"]) if not isinstance(FOUND["audio"], dict) else FOUND["audio"]
        await note("_meta", c.call_tool("test_meta", {}, meta=META))
        result = FOUND["_meta"]
        if not isinstance(result, dict):
            own = {key: value for key, value in (result.meta or {}).items() if key in META}
            FOUND["_meta"] = [result.content[0].text, own]


warnings.simplefilter("ignore", MCPDeprecationWarning)
asyncio.run(main())
print(json.dumps(FOUND))
