"""The helpers in the vendors' own libraries, and `toolwright convert`, on the same tools: a table
in Markdown.

    vendor_helpers.py BINARY WORK [SOURCE]

SOURCE is a list of MCP tools in JSON; without it the table is made of the MCP corpus below
TOOLWRIGHT_SHARED, or else of the examples. For each way to a strict API it counts, of all tools:
  refused     the helper raises, or writes nothing
  calls lost  the smallest valid call of the source cannot be sent: the new schema refuses it
  silent      constraints (keywords that refuse values) that are not in the new schema, and that nothing reports
Calls of ours are brought into the form of the new schema by the steps of `convert --session`, as
`call --as` does in the other direction. Fails if ours refuses a tool, loses a smallest call, or
loses a constraint in silence.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent

CONSTRAINTS = {
    "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    "additionalProperties", "oneOf", "allOf", "not", "dependentRequired", "if",
}  # fmt: skip


def by_openai(tool):
    from agents.strict_schema import ensure_strict_json_schema

    return ensure_strict_json_schema(copy.deepcopy(tool["inputSchema"]))


def by_anthropic(tool):
    from anthropic.lib._parse._transform import transform_schema

    return transform_schema(copy.deepcopy(tool["inputSchema"]))


def by_google(tool):
    from google.genai._mcp_utils import mcp_to_gemini_tool
    from mcp.types import Tool

    converted = mcp_to_gemini_tool(Tool.model_validate(tool))
    schema = converted.function_declarations[0].parameters
    return schema.model_dump(mode="json", by_alias=True, exclude_none=True)


# The target of ours, the helper, and who wrote it.
WAYS = [
    ("openai-strict", by_openai, "OpenAI, `ensure_strict_json_schema`"),
    ("anthropic-strict", by_anthropic, "Anthropic, `transform_schema`"),
    ("gemini-openapi", by_google, "Google, `mcp_to_gemini_tool`"),
]


def standard(schema):
    """A schema of Gemini as JSON Schema: small type names, numbers as numbers, `nullable` as a
    type."""
    if isinstance(schema, list):
        return [standard(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    counts = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
    made = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: standard(one) for name, one in value.items()}
        elif key == "type" and isinstance(value, str):
            made[key] = value.lower()
        elif key in counts:
            made[key] = int(value)
        else:
            made[key] = standard(value) if key in {"items", "anyOf"} else value
    if made.pop("nullable", False) and "type" in made:
        made["type"] = [made["type"], "null"]
    made.pop("propertyOrdering", None)
    return made


def smallest(schema):
    """The smallest call, or part of one, that a simple schema accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return smallest(schema[choice][0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: smallest(schema.get("properties", {}).get(name, {})) for name in schema.get("required", [])}
    if kind == "array":
        return [smallest(schema.get("items", {}))] * schema.get("minItems", 0)
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    return {"boolean": False, "null": None}.get(kind, "a" * max(1, schema.get("minLength", 1)))


def constraints(schema, at=""):
    """The pointers of all keywords that refuse values."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in CONSTRAINTS and value is not True and value != {}:
            yield f"{at}/{key}"
        if key in ("properties", "$defs"):
            for name, one in value.items():
                yield from constraints(one, f"{at}/{key}/{name}")
        elif key in ("items", "additionalProperties"):
            yield from constraints(value, f"{at}/{key}")
        elif key in ("anyOf", "oneOf", "allOf"):
            for index, one in enumerate(value):
                yield from constraints(one, f"{at}/{key}/{index}")


def has(schema, pointer):
    for token in pointer.split("/")[1:]:
        if isinstance(schema, list):
            schema = schema[int(token)] if int(token) < len(schema) else None
        elif isinstance(schema, dict) and token in schema:
            schema = schema[token]
        else:
            return False
    return True


def refuses(schema, call):
    try:
        return not jsonschema.Draft202012Validator(schema).is_valid(call)
    except Exception as error:  # a schema that no validator takes refuses every call
        print(f"  {error}", file=sys.stderr)
        return True


def adapted(steps, call):
    """A call in the form of the new schema, as far as smallest calls need it."""
    call = copy.deepcopy(call)
    for step in reversed(steps):
        for value in values_at(call, step["at"]):
            if "nullMeansAbsent" in step:
                for name in step["nullMeansAbsent"]:
                    value.setdefault(name, None)
            elif "rename" in step:
                for new, old in step["rename"]:
                    if old in value:
                        value[new] = value.pop(old)
    return call


def values_at(value, path):
    """The objects that a step is about: `true` stands for every item."""
    if not path:
        return [value] if isinstance(value, dict) else []
    if path[0] is True:
        inside = value if isinstance(value, list) else []
    else:
        inside = [value[path[0]]] if isinstance(value, dict) and path[0] in value else []
    return [found for one in inside for found in values_at(one, path[1:])]


def theirs(helper, tools):
    refused = lost = silent = 0
    for tool in tools:
        try:
            schema = standard(helper(tool))
        except Exception:  # AssertionError, UserError, ValidationError: for all of them nothing is sent
            refused += 1
            continue
        lost += refuses(schema, smallest(tool["inputSchema"]))
        silent += sum(not has(schema, pointer) for pointer in constraints(tool["inputSchema"]))
    return refused, lost, silent


def ours(binary, target, tools):
    with tempfile.TemporaryDirectory() as folder:
        source, session, out = (pathlib.Path(folder, name) for name in ("tools.json", "session.json", "out.json"))
        source.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        command = [binary, "convert", source, "--to", target, "--losses", "json", "--session", session, "-o", out]
        run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode != 0:
            print(run.stderr, file=sys.stderr)
            return len(tools), 0, 0, 0
        report = json.loads(run.stderr.splitlines()[-1])
        steps = {tool["id"]: tool["steps"] for tool in json.loads(session.read_text(encoding="utf-8"))["tools"]}
        written = json.loads(out.read_text(encoding="utf-8"))
    if target.startswith("gemini"):
        written = written[0]["functionDeclarations"] if isinstance(written, list) else written["functionDeclarations"]
    schemas = [one.get("input_schema") or one.get("parameters") or one["function"]["parameters"] for one in written]
    lost = silent = reported = 0
    for index, (tool, schema) in enumerate(zip(tools, schemas)):
        schema = standard(schema)
        lost += refuses(schema, adapted(steps[tool["name"]], smallest(tool["inputSchema"])))
        start = f"/tools/{index}/inputSchema"
        places = {one["path"] for key in ("losses", "rewrites") for one in report[key]}
        for pointer in constraints(tool["inputSchema"]):
            if not has(schema, pointer):
                # A change is reported at the keyword, or at the schema around it that was replaced.
                is_reported = any(
                    f"{start}{pointer}" == place or f"{start}{pointer}".startswith(f"{place}/") for place in places
                )
                reported, silent = reported + is_reported, silent + (not is_reported)
    return 0, lost, silent, reported


def tools_of(arguments):
    shared = os.environ.get("TOOLWRIGHT_SHARED")
    paths = [pathlib.Path(one) for one in arguments]
    if not paths and shared:
        paths = sorted(pathlib.Path(shared, "corpus", "mcp").glob("*.json"))
    if not paths:
        paths = [ROOT / "examples" / "mcp" / "clock.json", ROOT / "examples" / "webmcp" / "cart.json"]
    tools = []
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        document = document.get("result", document) if isinstance(document, dict) else document
        tools += document.get("tools", [document]) if isinstance(document, dict) else document
    return tools


def main(binary, _work, *arguments):
    warnings.simplefilter("ignore")
    tools = tools_of(arguments)
    for tool in tools:
        assert not refuses(tool["inputSchema"], smallest(tool["inputSchema"])), f"no smallest call of {tool['name']}"
    print(f"{len(tools)} tools, {sum(len(list(constraints(t['inputSchema']))) for t in tools)} constraints")
    print("| helper | refused | calls lost | silent | ours | refused | calls lost | silent | reported |")
    print("|---|---|---|---|---|---|---|---|---|")
    good = True
    for target, helper, name in WAYS:
        others, own = theirs(helper, tools), ours(binary, target, tools)
        good = good and own[:3] == (0, 0, 0)
        print("|", " | ".join(str(cell) for cell in (name, *others, f"`{target}`", *own)), "|")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
