"""Everything that the official conformance suite asks a server for: tools, prompts, resources and
completions.

The texts and names are those that the scenarios of the suite describe. How the server talks to its
client is in `conformance_server.py`; the functions here are the same for both kinds of protocol.

A tool or prompt is a function of the call. It returns a result, or it is a generator that yields

- a number: wait that many seconds;
- a dictionary of requests to the client by key: ask all of them, and receive the answers by key. An
  answer is a result, or an `RpcError` if the client refused;
- `TASK`: a client that knows tasks gets a task here, which does the rest.
"""

import json
import re
from typing import Any, Callable, NamedTuple, Optional

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
WATCHED = "test://watched-resource"
TASK = object()

SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class RpcError(Exception):
    """A JSON-RPC error: to the client, or of the client."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Tool(NamedTuple):
    about: str
    run: Callable[[Any], Any]
    schema: Optional[dict] = None
    # Whether the first question comes with a request state. Later questions always do.
    has_state: bool = False
    needs_task: bool = False


class Prompt(NamedTuple):
    about: str
    run: Callable[[Any], Any]
    arguments: tuple = ()


# Parts of schemas, results and requests.


def properties(required=(), **rules):
    return {"type": "object", "properties": rules, "required": list(required)}


def strings(*names):
    return properties(names, **{name: {"type": "string"} for name in names})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def resource(uri, kind, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def messages(*contents):
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def elicit(message, schema):
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(prompt, tokens=100):
    asked = messages({"type": "text", "text": prompt})
    return {"method": "sampling/createMessage", "params": {**asked, "maxTokens": tokens}}


ROOTS = {"method": "roots/list", "params": {}}


def content_of(answer):
    """What the user entered; nothing if the user or the client refused."""
    return {} if isinstance(answer, RpcError) else answer.get("content") or {}


def text_of(answer):
    """An answer as text. A refusal of the client becomes the error of the call."""
    if isinstance(answer, RpcError):
        raise answer
    return json.dumps(answer, sort_keys=True)


# Tools that return content.

SIMPLE = text("This is a simple text response for testing.")
AUDIO = {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}
EMBEDDED = {"content": [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]}
MIXED = {
    "content": [
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ]
}
FAILURE = text("This tool intentionally returns an error for testing", isError=True)


def logs(call):
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        call.log("info", words)
        yield 0.05
    return text("logged three times")


def progresses(call):
    for done in [0, 50, 100]:
        call.progress(done, 100)
        yield 0.05
    return text("went from 0 to 100")


def returns_meta(call):
    """Returns the `_meta` of the request that is not part of the protocol, in the text and as
    `_meta`."""
    own = {name: value for name, value in call.meta.items() if name.startswith("example.org/")}
    return text(json.dumps(own), _meta=own)


# Tools that change what the server offers.


def changes_tools(call):
    if TOOLS.pop("test_added", None) is None:
        TOOLS["test_added"] = Tool("Comes and goes.", lambda _: text("here"))
    call.notify_change("tools/list_changed")
    return text("the list of tools has changed")


def changes_prompts(call):
    if PROMPTS.pop("test_added_prompt", None) is None:
        PROMPTS["test_added_prompt"] = Prompt("Comes and goes.", lambda _: messages({"type": "text", "text": "here"}))
    call.notify_change("prompts/list_changed")
    return text("the list of prompts has changed")


def changes_resource(call):
    call.notify_change("resources/updated", WATCHED)
    return text("the resource has changed")


# Tools that ask the client.

DEFAULTS = properties(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in [(1, "First"), (2, "Second"), (3, "Third")]]
ENUMS = properties(
    untitledSingle={"type": "string", "enum": OPTIONS},
    titledSingle={"type": "string", "oneOf": TITLED},
    legacyEnum={
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti={"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    titledMulti={"type": "array", "items": {"anyOf": TITLED}},
)
ASK_NAME = elicit("What is your name?", strings("name"))
CONFIRM = properties(["ok"], ok={"type": "boolean"})


def asks(key, request, words):
    """A tool that asks one question. `words` makes the text of its result from the answer."""

    def run(_call):
        answers = yield {key: request}
        if isinstance(answers[key], RpcError):
            raise answers[key]
        return text(words(answers[key]))

    return run


def samples(call):
    answers = yield {"answer": sample(call.given["prompt"])}
    return text(f"LLM response: {text_of(answers['answer'])}")


def elicits(call):
    answers = yield {"answer": elicit(call.given["message"], strings("username", "email"))}
    return text(f"User response: {text_of(answers['answer'])}")


def completed(answer):
    return f"Elicitation completed: action={answer['action']}, content={json.dumps(answer.get('content'))}"


def asks_three(_call):
    answers = yield {"user_name": ASK_NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
    return text("; ".join(f"{key}: {text_of(answer)}" for key, answer in answers.items()))


def asks_twice(_call):
    first = yield {"step1": elicit("Step 1: What is your name?", strings("name"))}
    second = yield {"step2": elicit("Step 2: What is your favorite color?", strings("color"))}
    return text(f"{content_of(first['step1']).get('name')} likes {content_of(second['step2']).get('color')}")


def asks_what_is_possible(call):
    possible = {"answer": sample("What is the capital of France?"), "confirm": elicit("Is it?", CONFIRM)}
    kinds = {"answer": "sampling", "confirm": "elicitation"}
    answers = yield {key: request for key, request in possible.items() if kinds[key] in call.capabilities}
    return text(f"answered: {[key for key, answer in answers.items() if not isinstance(answer, RpcError)]}")


# Tools that are tasks for clients that know tasks.


def computes(call):
    yield TASK
    yield float(call.given.get("seconds", 0))
    return text(f"computed {call.given.get('label', '')}")


def fails_late(_call):
    yield TASK
    yield 0.3
    return text("the job has failed", isError=True)


def breaks(_call):
    yield TASK
    yield 0.1
    raise RpcError(-32603, "the job has crashed")


def deletes(call):
    yield TASK
    question = f"Delete {call.given.get('filename')}?"
    answers = yield {"confirm": elicit(question, properties(confirm={"type": "boolean"}))}
    return text("deleted" if content_of(answers["confirm"]).get("confirm") else "kept")


def asks_two(_call):
    yield TASK
    answers = yield {"first": ASK_NAME, "second": elicit("And the other name?", strings("name"))}
    return text(" and ".join(str(content_of(answer).get("name")) for answer in answers.values()))


def asks_then_works(_call):
    answers = yield {"user_name": ASK_NAME}
    yield TASK
    return text(f"Hello, {content_of(answers['user_name']).get('name')}!")


HEADER = properties(["region"], region={"type": "string", "x-mcp-header": "Region"}, query={"type": "string"})
SECONDS = properties(seconds={"type": "number"}, label={"type": "string"})

TOOLS = {
    "test_simple_text": Tool("Text.", lambda _: SIMPLE),
    "test_image_content": Tool("An image.", lambda _: {"content": [IMAGE]}),
    "test_audio_content": Tool("A sound.", lambda _: AUDIO),
    "test_embedded_resource": Tool("A resource.", lambda _: EMBEDDED),
    "test_multiple_content_types": Tool("Text, an image and a resource.", lambda _: MIXED),
    "test_error_handling": Tool("Always fails.", lambda _: FAILURE),
    "test_tool_with_logging": Tool("Logs.", logs),
    "test_logging_tool": Tool("Logs.", logs),
    "test_tool_with_progress": Tool("Reports its progress.", progresses),
    "test_meta": Tool("Returns the metadata of the request.", returns_meta),
    "test_reconnection": Tool("Takes a while.", progresses),
    "json_schema_2020_12_tool": Tool("Has a schema with everything.", lambda _: text("valid"), SCHEMA_2020_12),
    "test_header": Tool("Has an argument that is a header, too.", lambda call: text(call.given["region"]), HEADER),
    "test_trigger_tool_change": Tool("Changes the list of tools.", changes_tools),
    "test_trigger_prompt_change": Tool("Changes the list of prompts.", changes_prompts),
    "test_trigger_resource_update": Tool("Changes the watched resource.", changes_resource),
    "test_sampling": Tool("Asks the model of the client.", samples, strings("prompt")),
    "test_elicitation": Tool("Asks the user.", elicits, strings("message")),
    "test_elicitation_sep1034_defaults": Tool(
        "Asks with default values.", asks("answer", elicit("Please check these values", DEFAULTS), completed)
    ),
    "test_elicitation_sep1330_enums": Tool(
        "Asks with choices.", asks("answer", elicit("Please choose", ENUMS), completed)
    ),
    "test_missing_capability": Tool("Needs a client that samples.", asks("answer", sample("Are you there?"), text_of)),
    "test_streaming_elicitation": Tool("Asks the user.", asks("answer", elicit("Go on?", CONFIRM), text_of)),
    "test_input_required_result_elicitation": Tool(
        "Asks for a name.",
        asks("user_name", ASK_NAME, lambda answer: f"Hello, {content_of(answer).get('name')}!"),
    ),
    "test_input_required_result_sampling": Tool(
        "Asks the model of the client.", asks("capital_question", sample("What is the capital of France?"), text_of)
    ),
    "test_input_required_result_list_roots": Tool("Asks for the roots.", asks("client_roots", ROOTS, text_of)),
    "test_input_required_result_request_state": Tool(
        "Asks with a state.",
        asks("confirm", elicit("Please confirm", CONFIRM), lambda _: "state-ok"),
        has_state=True,
    ),
    "test_input_required_result_tampered_state": Tool(
        "Asks with a state.",
        asks("confirm", elicit("Please confirm", CONFIRM), lambda _: "state-ok"),
        has_state=True,
    ),
    "test_input_required_result_multiple_inputs": Tool("Asks three questions.", asks_three, has_state=True),
    "test_input_required_result_multi_round": Tool("Asks twice.", asks_twice, has_state=True),
    "test_input_required_result_capabilities": Tool("Asks what the client can answer.", asks_what_is_possible),
    "greet": Tool("Greets.", lambda call: text(f"Hello, {call.given['name']}!"), strings("name")),
    "slow_compute": Tool("Computes for the given time.", computes, SECONDS),
    "failing_job": Tool("Fails after a while.", fails_late, needs_task=True),
    "protocol_error_job": Tool("Crashes after a while.", breaks),
    "confirm_delete": Tool("Asks before it deletes.", deletes, properties(filename={"type": "string"})),
    "multi_input": Tool("Asks two questions.", asks_two),
    "test_tool_with_task": Tool("Asks first, and works later.", asks_then_works, has_state=True, needs_task=True),
}


# Prompts.


def embeds(call):
    embedded = resource(call.given["resourceUri"], "text/plain", "Embedded resource content for testing.")
    return messages(embedded, {"type": "text", "text": "Please process the embedded resource above."})


def prompts_with_arguments(call):
    words = f"Prompt with arguments: arg1='{call.given['arg1']}', arg2='{call.given['arg2']}'"
    return messages({"type": "text", "text": words})


def prompts_with_question(_call):
    answers = yield {"user_context": elicit("What context should the prompt use?", strings("context"))}
    return messages({"type": "text", "text": f"Context: {content_of(answers['user_context']).get('context')}"})


SIMPLE_PROMPT = messages({"type": "text", "text": "This is a simple prompt for testing."})
IMAGE_PROMPT = messages(IMAGE, {"type": "text", "text": "Please analyze the image above."})

PROMPTS = {
    "test_simple_prompt": Prompt("Text.", lambda _: SIMPLE_PROMPT),
    "test_prompt_with_arguments": Prompt("Has two arguments.", prompts_with_arguments, ("arg1", "arg2")),
    "test_prompt_with_embedded_resource": Prompt("Embeds a resource.", embeds, ("resourceUri",)),
    "test_prompt_with_image": Prompt("Has an image.", lambda _: IMAGE_PROMPT),
    "test_input_required_result_prompt": Prompt("Asks for its context.", prompts_with_question),
}


# Resources, and what completes arguments.

STATIC = "This is the content of the static text resource."
RESOURCES = {
    "test://static-text": ("Static text", "text/plain", {"text": STATIC}),
    "test://static-binary": ("Static image", "image/png", {"blob": PNG}),
    WATCHED: ("Watched resource", "text/plain", {"text": "Watched resource content"}),
}
TEMPLATE = "test://template/{id}/data"
COMPLETIONS = ["paris", "park", "party", "test", "testing"]


def read(uri):
    """The contents of a resource; `None` if it does not exist."""
    if uri in RESOURCES:
        _, kind, body = RESOURCES[uri]
        return {"uri": uri, "mimeType": kind, **body}
    found = re.fullmatch(re.escape(TEMPLATE).replace(r"\{id\}", "([^/]+)"), uri)
    if not found:
        return None
    data = {"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}
    return {"uri": uri, "mimeType": "application/json", "text": json.dumps(data)}


def lists(method):
    """The member of a list result and its items, or `None` if the method is not a list."""
    if method == "tools/list":
        empty = {"type": "object", "properties": {}}
        rows = list(TOOLS.items())
        return "tools", [
            {"name": name, "description": tool.about, "inputSchema": tool.schema or empty} for name, tool in rows
        ]
    if method == "prompts/list":
        rows = list(PROMPTS.items())
        return "prompts", [
            {
                "name": name,
                "description": prompt.about,
                "arguments": [{"name": each, "description": each, "required": True} for each in prompt.arguments],
            }
            for name, prompt in rows
        ]
    if method == "resources/list":
        return "resources", [
            {"uri": uri, "name": name, "description": name, "mimeType": kind}
            for uri, (name, kind, _) in RESOURCES.items()
        ]
    if method == "resources/templates/list":
        template = {"uriTemplate": TEMPLATE, "name": "Template", "description": "Data by id."}
        return "resourceTemplates", [template | {"mimeType": "application/json"}]
    return None
