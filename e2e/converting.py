"""`toolwright convert` for every vendor, judged by the vendor's own client library (oracle.py).

    converting.py BINARY WORK [SOURCE...]

Without sources: the examples, 500 generated tools, and the corpus of other authors if
TOOLWRIGHT_SHARED names a folder of it. A document that does not convert for a reason of its own (it
has errors) is counted, not judged. First the judge is judged: it has to refuse documents that are
known to be wrong, so that it cannot pass everything.

Then the instances of the reports are judged by a second validator, Python's jsonschema, and the
results of `toolwright call --as` by the vendors' libraries.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import warnings

import jsonschema
import oracle
import regress

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The targets of `convert --to`, and whose library judges each.
JUDGES = {
    "openai": "openai-chat",
    "openai-strict": "openai-chat",
    "openai-responses": "openai-responses",
    "openai-responses-strict": "openai-responses",
    "anthropic": "anthropic",
    "anthropic-strict": "anthropic",
    "gemini": "gemini",
    "gemini-openapi": "gemini",
    "bedrock": "bedrock",
    "mistral": "mistral",
    "cohere": "cohere",
    "ollama": "ollama",
}

TEXT = {"type": "string"}
OPEN = {"type": "object", "properties": {"a": TEXT}}


def chat(schema, **more):
    return [{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema, **more}}]


def gemini(**schema):
    return [{"functionDeclarations": [{"name": "f", "description": "d", **schema}]}]


# Vendor, tools, and whether they are right.
SAMPLES = [
    ("openai-chat", chat(OPEN), True),
    ("openai-chat", chat(OPEN, strict=True), False),
    ("openai-chat", chat({**OPEN, "required": ["a"], "additionalProperties": False}, strict=True), True),
    ("openai-chat", [{"name": "f", "parameters": OPEN}], False),
    ("openai-responses", [{"type": "function", "name": "f", "parameters": OPEN, "strict": False}], True),
    ("openai-responses", chat(OPEN), False),
    ("anthropic", [{"name": "f", "input_schema": OPEN}], True),
    ("anthropic", [{"name": "f g", "input_schema": OPEN}], False),
    ("anthropic", [{"name": "f", "input_schema": {"type": "array"}}], False),
    ("gemini", gemini(parametersJsonSchema={**OPEN, "additionalProperties": False}), True),
    ("gemini", gemini(parameters=OPEN), True),
    ("gemini", gemini(parameters={**OPEN, "additionalProperties": False}), False),
    ("gemini", gemini(parameters={"type": "object", "properties": {"a": {"type": ["string", "null"]}}}), False),
    ("bedrock", [{"toolSpec": {"name": "f", "inputSchema": {"json": OPEN}}}], True),
    ("bedrock", [{"toolSpec": {"name": "f"}}], False),
    ("mistral", chat(OPEN), True),
    ("mistral", [{"type": "function", "function": {"name": "f"}}], False),
    ("cohere", chat(OPEN), True),
    ("cohere", [{"type": "function", "function": {"name": "f"}}], False),
    ("ollama", chat(OPEN), True),
    ("ollama", chat({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}), False),
]


# The keywords that Ollama's server reads (api/types.go) and its Python client has no field for.
OLLAMA_SERVER_ONLY = {"anyOf", "properties", "required", "$defs"}


def expected(vendor, pointer):
    return vendor == "ollama" and pointer.rsplit("/", 1)[-1] in OLLAMA_SERVER_ONLY


def judge_the_judge():
    for vendor, tools, is_right in SAMPLES:
        complaints = oracle.judge(vendor, "tools", tools)
        assert bool(complaints) != is_right, f"{vendor}: {complaints} about {tools}"


def generated_schema(draw, depth):
    """A schema with all kinds of keywords, whose values are seldom equal."""
    kinds = ["string", "integer", "number", "boolean", "enum", "const", "nullable"]
    kinds += ["object", "array", "anyOf", "oneOf", "allOf"] if depth else []
    kind = draw.choice(kinds)
    schema = {"description": f"Part {draw.randrange(10**6)}"} if draw.random() < 0.5 else {}

    def sometimes(key, value):
        if draw.random() < 0.3:
            schema[key] = value

    if kind in ("string", "nullable"):
        schema["type"] = kind if kind == "string" else ["string", "null"]
        sometimes("minLength", draw.randrange(4))
        sometimes("maxLength", draw.randrange(4, 90))
        sometimes("pattern", f"^[a-z]*{draw.randrange(99)}?")
        sometimes("format", draw.choice(["date", "uri", "email", "uuid"]))
        sometimes("default", "a")
    elif kind in ("integer", "number"):
        schema["type"] = kind
        sometimes("minimum", draw.randrange(9))
        sometimes("exclusiveMaximum", draw.randrange(50, 900))
        sometimes("multipleOf", draw.choice([1, 2, 0.5]))
    elif kind == "enum":
        schema["enum"] = draw.sample(["a", "b", "c", 1, 2, None, True], draw.randrange(1, 4))
    elif kind == "const":
        schema["const"] = draw.choice(["a", 7, True, None])
    elif kind == "object":
        schema |= generated_object(draw, depth - 1)
    elif kind == "array":
        schema |= {"type": "array", "items": generated_schema(draw, depth - 1)}
        sometimes("minItems", draw.randrange(3))
        sometimes("maxItems", draw.randrange(3, 9))
        sometimes("uniqueItems", True)
    elif kind == "boolean":
        schema["type"] = kind
    else:
        schema[kind] = [generated_schema(draw, depth - 1) for _ in range(2)]
    return schema


def generated_object(draw, depth):
    names = draw.sample(["path", "line", "owner", "page", "x-id", "$kind"], draw.randrange(5))
    schema = {"type": "object", "properties": {name: generated_schema(draw, depth) for name in names}}
    if required := [name for name in names if draw.random() < 0.5]:
        draw.shuffle(required)
        schema["required"] = required
    if draw.random() < 0.6:
        schema["additionalProperties"] = draw.choice([False, False, True, {"type": "string"}])
    return schema


def generated_tools(count):
    draw = random.Random(19)
    for number in range(count):
        description = f"Does thing {number} with what it is given."
        schema = generated_object(draw, 3)
        yield {"name": f"do.thing-{number}", "description": description, "inputSchema": schema}


def write_generated(binary, path, count):
    """A document with so many generated tools; those whose schema nothing matches are left out."""
    tools = list(generated_tools(count * 2))
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    command = [binary, "convert", str(path), "--to", "mcp-plain", "--force", "--losses", "json", "-o", f"{path}.out"]
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    left_out = set(json.loads(run.stderr.splitlines()[-1])["leftOut"])
    sound = [tool for tool in tools if tool["name"] not in left_out]
    assert len(sound) >= count, f"only {len(sound)} of the generated tools have no errors"
    path.write_text(json.dumps({"tools": sound[:count]}), encoding="utf-8")
    return path


def sources(binary, work, arguments):
    if arguments:
        return [pathlib.Path(one) for one in arguments]
    generated = write_generated(binary, pathlib.Path(work, "generated-tools.json"), 500)
    found = sorted((ROOT / "examples").glob("*/*.json")) + sorted((ROOT / "examples").glob("*/*.yaml"))
    shared = os.environ.get("TOOLWRIGHT_SHARED")
    if shared:
        found += sorted(pathlib.Path(shared, "corpus").glob("*/*.json"))
    return [*found, generated]


def tools_of(document):
    """The list of tools that a request would hold; `convert` may write it under a key."""
    if isinstance(document, dict):
        document = document.get("tools", [document])
    return document


def run_convert(binary, source, target, losses):
    command = [binary, "convert", str(source), "--to", target, "--losses", losses]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def judge_tools(binary, found, wrong):
    for target, vendor in JUDGES.items():
        judged, tools, refused = 0, 0, 0
        for source in found:
            run = run_convert(binary, source, target, "none")
            if run.returncode == 1:
                refused += 1
                continue
            if run.returncode != 0:
                wrong.append(f"{target} {source}: exit {run.returncode}: {run.stderr.strip()[:300]}")
                continue
            converted = tools_of(json.loads(run.stdout))
            judged, tools = judged + 1, tools + len(converted)
            for at, message in oracle.judge(vendor, "tools", converted):
                if not expected(vendor, at):
                    wrong.append(f"{target} {source} {at}: {message}")
        print(f"convert: {target}: {judged} documents with {tools} tools judged, {refused} not converted")
        if not judged:
            wrong.append(f"{target}: nothing was converted")


def pattern(_validator, expression, instance, _schema):
    """As ECMA-262 has it: Python's `$` also matches before a line break at the end."""
    if isinstance(instance, str) and regress.Regex(expression, "u").find(instance) is None:
        yield jsonschema.ValidationError(f"{instance!r} does not match {expression!r}")


SecondValidator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": pattern})


def judge_witnesses(binary, found, wrong):
    """Python's jsonschema judges the instances of the reports by the schemas of the source, which
    is MCP."""
    for source in found:
        document = json.loads(source.read_text(encoding="utf-8")) if source.suffix == ".json" else {}
        if not isinstance(document, dict) or "inputSchema" not in (document.get("tools") or [{}])[0]:
            continue
        schemas = {tool["name"]: tool["inputSchema"] for tool in document["tools"]}
        instances, losses, not_shown = 0, 0, 0
        for target in JUDGES:
            run = run_convert(binary, source, target, "json")
            if run.returncode != 0:
                continue
            for loss in json.loads(run.stderr.splitlines()[-1])["losses"]:
                if not loss["part"].startswith("inputSchema"):
                    continue
                # Annotations and names are decided without comparing schemas.
                losses += loss["effect"] not in ("dropped", "renamed")
                not_shown += loss["effect"] == "not-shown"
                schema = schemas.get(loss["tool"].rsplit(":", 1)[-1])
                # A call in the form of the target is not one of the source.
                for witness in (one for one in loss["witnesses"] if one["form"] == "source"):
                    instances += 1
                    accepts = SecondValidator(schema).is_valid(witness["value"])
                    if accepts != witness["source"]:
                        wrong.append(f"{target} {source} {loss['tool']} {loss['part']}: {witness} is judged otherwise")
        print(f"convert: {source.name}: {losses} losses of schemas, {not_shown} not shown, {instances} instances judged")
        # A few losses say nothing about a share, and generated schemas are stranger than those of
        # people.
        if losses > 200 and not_shown * 20 > losses and source.name != "generated-tools.json":
            wrong.append(f"{source}: {not_shown} of {losses} losses are not shown")


def calls_of(vendor, name):
    """A good call, one that the schema refuses, and one of a tool that does not exist."""
    for number, (own, arguments) in enumerate([(name, {"value": 1, "from": "km", "to": "m"}), (name, {}), ("gone", {})]):
        call, text = f"call_{number}", json.dumps(arguments)
        if vendor == "openai-responses":
            yield {"type": "function_call", "call_id": call, "name": own, "arguments": text}
        elif vendor == "anthropic":
            yield {"type": "tool_use", "id": call, "name": own, "input": arguments}
        elif vendor == "gemini":
            yield {"functionCall": {"id": call, "name": own, "args": arguments}}
        elif vendor == "bedrock":
            yield {"toolUse": {"toolUseId": call, "name": own, "input": arguments}}
        elif vendor == "ollama":
            yield {"function": {"name": own, "arguments": arguments}}
        else:
            yield {"id": call, "type": "function", "function": {"name": own, "arguments": text}}


def judge_results(binary, wrong):
    tool = str(ROOT / "examples" / "tools" / "convert-units-tool")
    for target, vendor in JUDGES.items():
        calls = list(calls_of(vendor, "convert_units"))
        command = [binary, "call", "--as", target, "--from", tool]
        run = subprocess.run(command, input=json.dumps(calls), capture_output=True, text=True, check=False)
        if run.returncode != 1:
            wrong.append(f"call --as {target}: exit {run.returncode}: {run.stderr[:300]}")
            continue
        results = json.loads(run.stdout)
        if isinstance(results, dict):
            results = results.get("content") or results["parts"]
        if len(results) != len(calls) or "1000" not in json.dumps(results[0]):
            wrong.append(f"call --as {target}: {run.stdout[:300]}")
        for at, message in oracle.judge(vendor, "result", results):
            wrong.append(f"call --as {target} {at}: {message}")
    print(f"call --as: results of {len(JUDGES)} targets judged")


def main(binary, work, *arguments):
    warnings.simplefilter("ignore")
    judge_the_judge()
    wrong = []
    found = sources(binary, work, arguments)
    judge_tools(binary, found, wrong)
    judge_witnesses(binary, found, wrong)
    judge_results(binary, wrong)
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
