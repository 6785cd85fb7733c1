"""The client libraries of the vendors as judges: do they take a list of tools, a call or a result?

    oracle.py VENDOR tools|call|result FILE     one line per complaint; exit 1 with complaints, 2 for wrong arguments
    oracle.py versions

Each document is judged three times. First by the type that the library declares for it (pydantic;
for Bedrock the service model of botocore). Then by what that type keeps: a key that is gone
afterwards was dropped without an error. Then, for tools, by rules that the types do not state, each
with its source here. A library accepts less than the API behind it in some places and more in
others, so this is a necessary condition, not a proof.
"""

import copy
import importlib
import json
import re
import sys
import warnings
from importlib import metadata
from typing import NamedTuple


class Library(NamedTuple):
    """Where a vendor's library declares its types; `bedrock` has shapes of a service instead."""

    package: str
    module: str
    tools: str
    call: str
    result: str


LIBRARIES = {
    "openai-chat": Library(
        "openai", "openai.types.chat", "ChatCompletionFunctionToolParam",
        "ChatCompletionMessageFunctionToolCall", "ChatCompletionToolMessageParam",
    ),
    "openai-responses": Library(
        "openai", "openai.types.responses", "FunctionToolParam",
        "ResponseFunctionToolCall", "response_input_item_param.FunctionCallOutput",
    ),
    "anthropic": Library("anthropic", "anthropic.types", "ToolParam", "ToolUseBlock", "ToolResultBlockParam"),
    "gemini": Library("google-genai", "google.genai.types", "Tool", "Part", "Part"),
    "mistral": Library("mistralai", "mistralai.client.models", "Tool", "ToolCall", "ToolMessage"),
    "cohere": Library("cohere", "cohere", "ToolV2", "ToolCallV2", "ToolChatMessageV2"),
    "ollama": Library("ollama", "ollama", "Tool", "Message.ToolCall", "Message"),
    "bedrock": Library("botocore", "bedrock-runtime", "Tool", "ContentBlock", "ContentBlock"),
}

# Names of tools, where a vendor states which it accepts.
TOOL_NAMES = {
    "openai-chat": r"[a-zA-Z0-9_-]{1,64}",  # documentation of FunctionDefinition.name
    "openai-responses": r"[a-zA-Z0-9_-]{1,128}",  # FunctionToolParam in OpenAI's OpenAPI document
    "anthropic": r"[a-zA-Z0-9_-]{1,64}",  # documentation, "Define tools"
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",  # documentation of FunctionDeclaration.name
    "bedrock": r"[a-zA-Z0-9_-]{1,64}",  # shape ToolName
}

# Google's `Schema` in Python has these for Vertex AI; `@google/genai` for the Gemini API does not.
VERTEX_AI_ONLY = {"additionalProperties", "additional_properties", "defs", "ref"}
GEMINI_TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}


def judge(vendor, kind, document):
    """All complaints, as pairs of JSON pointer and message."""
    library = LIBRARIES[vendor]
    items = document if isinstance(document, list) else [document]
    name = getattr(library, kind)
    check = by_service_model if vendor == "bedrock" else by_type
    complaints = []
    for index, item in enumerate(items):
        complaints += check(item, f"/{index}", library.module, name)
    if kind == "tools" and not complaints:
        complaints += by_rules(vendor, items)
    return complaints


def by_type(value, at, module, name):
    """What the declared type refuses, or drops."""
    from pydantic import TypeAdapter, ValidationError

    declared = importlib.import_module(module)
    for part in name.split("."):
        declared = getattr(declared, part)
    adapter = TypeAdapter(declared)  # kept in a variable: its iterators need it while they are read
    try:
        kept = as_json(adapter.validate_python(copy.deepcopy(value)))
    except ValidationError as error:
        return [("/".join([at, *(str(part)[:40] for part in one["loc"])]), one["msg"]) for one in error.errors()]
    except (AttributeError, TypeError, ValueError) as error:  # google-genai raises these for a list of types
        return [(at, f"{type(error).__name__}: {error}")]
    return list(dropped(value, kept, at))


def as_json(value):
    """A validated value as plain JSON. pydantic checks an `Iterable` only when it is read, so all
    of it is."""
    if hasattr(value, "model_fields_set"):
        fields = type(value).model_fields
        names = [name for name in fields if name in value.model_fields_set]
        value = {fields[name].alias or name: getattr(value, name) for name in names}
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        return [as_json(item) for item in value]
    return value


def dropped(given, kept, at):
    """The keys of `given` that `kept` lacks. A field has up to three spellings: any_of, anyOf,
    $defs."""
    if isinstance(given, dict) and isinstance(kept, dict):
        by_letters = {letters(key): value for key, value in kept.items()}
        for key, value in given.items():
            if letters(key) in by_letters:
                yield from dropped(value, by_letters[letters(key)], f"{at}/{key}")
            else:
                yield f"{at}/{key}", "the library drops it"
    elif isinstance(given, list) and isinstance(kept, list):
        for index, (one, other) in enumerate(zip(given, kept)):
            yield from dropped(one, other, f"{at}/{index}")


def letters(key):
    return key.replace("_", "").lstrip("$").lower()


def by_service_model(value, at, service, shape):
    """botocore checks members, types and minima, but neither maxima nor patterns."""
    from botocore import session, validate

    model = session.get_session().get_service_model(service).shape_for(shape)
    report = validate.ParamValidator().validate(value, model).generate_report()
    return [(at, line) for line in report.splitlines()]


def declared_functions(vendor, tools):
    """Pointer, function, key of its schema, and schema of every function in the tools of a
    request."""
    for index, tool in enumerate(tools):
        if vendor == "gemini":
            for number, function in enumerate(tool.get("functionDeclarations", [])):
                key = "parametersJsonSchema" if "parametersJsonSchema" in function else "parameters"
                yield f"/{index}/functionDeclarations/{number}", function, key, function.get(key)
        elif vendor == "bedrock":
            function = tool.get("toolSpec", {})
            yield f"/{index}/toolSpec", function, "inputSchema/json", function.get("inputSchema", {}).get("json")
        else:
            function = tool.get("function", tool)
            key = "input_schema" if vendor == "anthropic" else "parameters"
            yield f"/{index}", function, key, function.get(key)


def by_rules(vendor, tools):
    """What documents of the vendors state and their types do not."""
    seen = set()
    for at, function, key, schema in declared_functions(vendor, tools):
        name = str(function.get("name", ""))
        pattern = TOOL_NAMES.get(vendor, r"(?s).+")
        if not re.fullmatch(pattern, name):
            yield f"{at}/name", f"{name!r} does not match {pattern}"
        if name in seen:
            yield f"{at}/name", f"{name!r} is the name of two tools"
        seen.add(name)
        if schema is None:  # a function without parameters
            schema = {"type": "object"}
        if not isinstance(schema, dict) or str(schema.get("type")).lower() != "object":
            yield f"{at}/{key}/type", "has to be object"
            continue
        if vendor == "anthropic":  # ToolParam takes any dictionary beside its own type, for old callers
            yield from by_type(schema, f"{at}/{key}", "anthropic.types.tool_param", "InputSchemaTyped")
        if vendor == "gemini" and key == "parameters":
            yield from gemini_schema(schema, f"{at}/{key}")
        if vendor.startswith("openai") and function.get("strict"):
            yield from openai_strict(schema, f"{at}/{key}")


def gemini_schema(schema, at):
    """Python's `Type` invents a member for every text, so types are compared with the list."""
    for key in schema.keys() & VERTEX_AI_ONLY:
        yield f"{at}/{key}", "only Vertex AI has it"
    if "type" in schema and str(schema["type"]).upper() not in GEMINI_TYPES:
        yield f"{at}/type", f"{schema['type']!r} is not a type"
    inside = [(f"properties/{name}", one) for name, one in schema.get("properties", {}).items()]
    inside += [(f"anyOf/{index}", one) for index, one in enumerate(schema.get("anyOf", []))]
    if "items" in schema:
        inside.append(("items", schema["items"]))
    for step, one in inside:
        yield from gemini_schema(one, f"{at}/{step}")


def openai_strict(schema, at):
    """A schema is strict if OpenAI's own helper leaves it as it is. The helper ignores allOf, not
    and minLength."""
    from agents.strict_schema import ensure_strict_json_schema

    try:
        made_strict = ensure_strict_json_schema(copy.deepcopy(schema))
    except Exception as error:  # UserError, TypeError, KeyError: for all of them the library sends nothing
        return [(at, f"not strict: {error}")]
    if made_strict == schema:
        return []
    return [(at, f"not strict: the helper would make it {json.dumps(made_strict)[:160]}")]


def main(arguments):
    warnings.simplefilter("ignore")
    if arguments == ["versions"]:
        for package in sorted({one.package for one in LIBRARIES.values()} | {"openai-agents", "pydantic"}):
            print(package, metadata.version(package))
        return 0
    if len(arguments) != 3 or arguments[0] not in LIBRARIES or arguments[1] not in ("tools", "call", "result"):
        print(__doc__, "Vendors:", *LIBRARIES, file=sys.stderr)
        return 2
    with open(arguments[2], encoding="utf-8") as file:
        complaints = judge(arguments[0], arguments[1], json.load(file))
    for at, message in complaints:
        print(f"{at}: {message}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
