"""Checks the server of the conformance tests itself, in both modes, before Toolwright stands in
front of it.

The client of the official Python SDK uses everything that the server offers; tasks, which that SDK
does not have, and messages that a client must not send are written by hand.
"""

import asyncio
import itertools
import json
import subprocess
import sys
import warnings

import mcp_types as types
from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters

from peers import HERE, Peers, Tally

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()
SERVER = str(HERE / "conformance_server.py")
META = "io.modelcontextprotocol/"
TASKS = META + "tasks"
ANSWERS = {
    "name": "Alice", "color": "blue", "ok": True, "context": "test", "username": "alice", "email": "a@example.org",
    "confirm": True, "age": 25, "score": 88, "status": "inactive", "verified": False, "untitledSingle": "option1",
    "titledSingle": "value1", "legacyEnum": "opt1", "untitledMulti": ["option1"], "titledMulti": ["value1"],
}  # fmt: skip
ARGUMENTS = {
    "test_sampling": {"prompt": "x"}, "test_elicitation": {"message": "x"}, "test_header": {"region": "eu"},
    "greet": {"name": "Alice"}, "confirm_delete": {"filename": "a"},
}  # fmt: skip
# What the text of a result contains.
CONTAINS = {
    "test_simple_text": "simple text response", "test_sampling": "from the model", "test_elicitation": "alice",
    "test_elicitation_sep1034_defaults": "action=accept", "test_elicitation_sep1330_enums": "option1",
    "test_missing_capability": "from the model", "test_input_required_result_elicitation": "Hello, Alice!",
    "test_input_required_result_sampling": "from the model", "test_input_required_result_list_roots": "file:///root",
    "test_input_required_result_request_state": "state-ok", "test_input_required_result_multiple_inputs": "greeting",
    "test_input_required_result_multi_round": "Alice likes blue", "multi_input": "Alice and Alice",
    "test_input_required_result_capabilities": "['answer', 'confirm']", "confirm_delete": "deleted",
}  # fmt: skip
# Tools that end with an error in a result, and with an error of the protocol.
FAILING = {"test_error_handling": None, "failing_job": None, "protocol_error_job": -32603}
# Tools that are tasks and nothing else, in the mode that has tasks.
NEEDS_TASK = {"failing_job", "test_tool_with_task"}


async def sampled(_context, _params):
    content = types.TextContent(type="text", text="from the model")
    return types.CreateMessageResult(role="assistant", content=content, model="none", stop_reason="endTurn")


async def elicited(_context, params):
    wanted = params.requested_schema["properties"]
    return types.ElicitResult(action="accept", content={name: ANSWERS[name] for name in wanted})


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///root", name="root")])


async def every(page):
    """All items of a list that has pages."""
    found, cursor = [], None
    while True:
        result = await page(cursor=cursor)
        found += next(value for value in dict(result).values() if isinstance(value, list))
        cursor = result.next_cursor
        if cursor is None:
            return found


async def sdk(flags):
    seen = []

    async def handler(message):
        seen.append(getattr(message, "method", None))

    async def progressed(done, total, _message):
        seen.append(f"progress {done}/{total}")

    where = "stateless" if flags else "handshake"
    client = Client(
        StdioServerParameters(command=sys.executable, args=[SERVER, *flags]),
        sampling_callback=sampled, elicitation_callback=elicited, list_roots_callback=roots,
        message_handler=handler, log_level="info", cache=None,
    )  # fmt: skip
    async with client:
        is_modern = client.protocol_version == "2026-07-28"
        TALLY.check(is_modern == bool(flags), f"{where}: speaks {client.protocol_version}")
        TALLY.check(client.instructions and "fixture" in client.instructions, f"{where}: no instructions")
        tools = await every(client.list_tools)
        TALLY.check(len(tools) > 30, f"{where}: lists {len(tools)} tools")
        for tool in tools:
            await called(client, where, tool.name, is_modern, progressed)
        TALLY.check("progress 50.0/100.0" in seen, f"{where}: no progress in {seen}")
        TALLY.check(seen.count("notifications/message") >= 3, f"{where}: no log messages in {seen}")
        if not is_modern:
            # The counterpart of the other mode are subscriptions, below.
            await client.subscribe_resource("test://watched-resource")
            await client.call_tool("test_trigger_resource_update", {})
            await client.unsubscribe_resource("test://watched-resource")
            await client.call_tool("test_trigger_resource_update", {})
            await client.send_ping()
            for what in ["tools/list_changed", "prompts/list_changed"]:
                TALLY.check(seen.count(f"notifications/{what}") == 1, f"{where}: {what} not once in {seen}")
            TALLY.check(seen.count("notifications/resources/updated") == 1, f"{where}: updates in {seen}")
        else:
            await listened(client, where)
        await read(client, where)


async def called(client, where, name, is_modern, progressed):
    try:
        result = await client.call_tool(name, ARGUMENTS.get(name, {}), progress_callback=progressed)
    except MCPError as error:
        expected = -32021 if is_modern and name in NEEDS_TASK else FAILING.get(name)
        TALLY.check(error.code == expected, f"{where}: {name} raised {error!r}")
        return
    words = result.model_dump_json()
    TALLY.check(bool(result.is_error) == (name in FAILING), f"{where}: {name} gave {words}")
    TALLY.check(CONTAINS.get(name, "") in words, f"{where}: {name} gave {words}")


async def listened(client, where):
    events = []
    async with client.listen(tools_list_changed=True, resource_subscriptions=["test://watched-resource"]) as stream:
        for change in ["tool_change", "prompt_change", "resource_update"]:
            await client.call_tool(f"test_trigger_{change}", {})
        async for event in stream:
            events.append(type(event).__name__)
            if len(events) == 2:
                break
    TALLY.check(events == ["ToolsListChanged", "ResourceUpdated"], f"{where}: heard {events}")


async def read(client, where):
    resources = await every(client.list_resources)
    templates = await every(client.list_resource_templates)
    TALLY.check(len(resources) == 3 and len(templates) == 1, f"{where}: {resources}, {templates}")
    for uri, part in [("test://static-text", "static text"), ("test://template/123/data", "123")]:
        contents = (await client.read_resource(uri)).contents
        TALLY.check(part in contents[0].text, f"{where}: {uri} gave {contents}")
    TALLY.check((await client.read_resource("test://static-binary")).contents[0].blob, f"{where}: no blob")
    try:
        TALLY.check(False, f"{where}: {await client.read_resource('test://none')}")
    except MCPError as error:
        code = -32602 if client.protocol_version == "2026-07-28" else -32002
        TALLY.check(error.code == code and error.error.data == {"uri": "test://none"}, f"{where}: {error.error}")
    for prompt in await every(client.list_prompts):
        given = {argument.name: "value" for argument in prompt.arguments or []}
        result = await client.get_prompt(prompt.name, given)
        TALLY.check(result.messages, f"{where}: {prompt.name} gave {result}")
    ref = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    done = await client.complete(ref, {"name": "arg1", "value": "par"})
    TALLY.check(done.completion.values == ["paris", "park", "party"], f"{where}: completed {done}")


class Raw:
    """A client that writes its messages by hand."""

    def __init__(self, *flags):
        command = [sys.executable, SERVER, *flags]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ids = itertools.count(1)

    def request(self, method, extensions=(TASKS,), meta=None, **params):
        """The response to a request; messages that arrive before it are skipped."""
        if meta is None:
            capabilities = {"elicitation": {}, "extensions": {name: {} for name in extensions}}
            meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": capabilities}
        identity = next(self.ids)
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {**params, "_meta": meta}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while (answer := json.loads(self.process.stdout.readline())).get("id") != identity:
            pass
        return answer

    def call(self, name, given=None, **more):
        return self.request("tools/call", name=name, arguments=given or {}, **more)

    def code(self, method, **params):
        return self.request(method, **params).get("error", {}).get("code")

    def until(self, task, *statuses):
        while (found := self.request("tasks/get", taskId=task)["result"])["status"] not in statuses:
            pass
        return found


def by_hand():
    raw = Raw("--stateless")
    task = raw.call("slow_compute", {"seconds": 0.2})["result"]
    TALLY.check(task["resultType"] == "task" and task["status"] == "working", f"not a task: {task}")
    done = raw.until(task["taskId"], "completed")
    TALLY.check(done["result"]["content"] and done["resultType"] == "complete", f"task gave {done}")
    done = raw.until(raw.call("failing_job")["result"]["taskId"], "completed")
    TALLY.check(done["result"]["isError"] is True, f"task gave {done}")
    done = raw.until(raw.call("protocol_error_job")["result"]["taskId"], "failed")
    TALLY.check(done["error"]["code"] == -32603 and "result" not in done, f"task gave {done}")
    task = raw.call("slow_compute", {"seconds": 60})["result"]["taskId"]
    for _ in range(2):
        ack = raw.request("tasks/cancel", taskId=task)["result"]
        TALLY.check(ack["resultType"] == "complete" and "status" not in ack, f"cancel gave {ack}")
    raw.until(task, "cancelled")

    task = raw.call("multi_input")["result"]["taskId"]
    first, second = raw.until(task, "input_required")["inputRequests"]
    answer = {"action": "accept", "content": {"name": "Alice"}}
    raw.request("tasks/update", taskId=task, inputResponses={first: answer})
    left = raw.until(task, "input_required", "completed").get("inputRequests")
    TALLY.check(list(left) == [second], f"left are {left}")
    raw.request("tasks/update", taskId=task, inputResponses={second: answer})
    TALLY.check("Alice and Alice" in json.dumps(raw.until(task, "completed")), "multi_input")

    asked = raw.call("test_tool_with_task")["result"]
    state = {"inputResponses": {"user_name": answer}, "requestState": asked["requestState"]}
    task = raw.call("test_tool_with_task", **state)["result"]
    TALLY.check("requestState" not in task, f"task with state: {task}")
    TALLY.check("Alice" in json.dumps(raw.until(task["taskId"], "completed")), "test_tool_with_task")

    asked = raw.call("test_input_required_result_tampered_state")["result"]
    state = {"inputResponses": {"confirm": answer}, "requestState": asked["requestState"] + "-TAMPERED"}
    error = raw.call("test_input_required_result_tampered_state", **state).get("error", {})
    TALLY.check(error.get("code") == -32602, f"tampered state gave {error}")
    complete = {"user_name": answer, "x": 1}
    for given, wanted in [({"user_name": 1}, "input_required"), (None, "input_required"), (complete, "complete")]:
        result = raw.call("test_input_required_result_elicitation", inputResponses=given)["result"]
        TALLY.check(result["resultType"] == wanted, f"{given} gave {result}")

    TALLY.check(raw.code("initialize", protocolVersion="2025-11-25") == -32022, "initialize was not refused")
    for method in ["ping", "logging/setLevel", "resources/subscribe", "tasks/list", "tasks/result"]:
        TALLY.check(raw.code(method) == -32601, f"{method} was not refused")
    TALLY.check(raw.code("tasks/get", taskId="none") == -32602, "unknown task")
    TALLY.check(raw.code("tasks/get", taskId="none", extensions=()) == -32021, "tasks without the extension")
    TALLY.check(raw.code("tools/call", name="failing_job", extensions=()) == -32021, "failing_job without tasks")
    TALLY.check(raw.code("tools/call", name="test_missing_capability") == -32021, "test_missing_capability")
    TALLY.check(raw.code("tools/list", meta={}) == -32602, "a request without _meta")
    listed = raw.request("tools/list")["result"]
    TALLY.check({"ttlMs", "cacheScope", "nextCursor", "resultType"} <= set(listed), f"tools/list: {set(listed)}")
    raw.process.stdin.close()
    TALLY.check(raw.process.wait(10) == 0, "does not end at the end of its input")


async def main():
    await asyncio.gather(sdk([]), sdk(["--stateless"]))


# Methods that the newest revision does not have are used on purpose.
warnings.simplefilter("ignore", MCPDeprecationWarning)
asyncio.run(asyncio.wait_for(main(), 60))
by_hand()
TALLY.end("conformance fixture: both modes with the Python SDK, and tasks by hand")
