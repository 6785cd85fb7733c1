"""`toolwright convert` for every vendor, judged by the vendor's own client library (oracle.py).

    converting.py BINARY WORK [SOURCE...]

Without sources: the examples, and the corpus of other authors if TOOLWRIGHT_SHARED names a folder of it. A document
that does not convert for a reason of its own (it has errors) is counted, not judged. First the judge is judged: it
has to refuse documents that are known to be wrong, so that it cannot pass everything.
"""

import json
import os
import pathlib
import subprocess
import sys
import warnings

import oracle

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


def sources(arguments):
    if arguments:
        return [pathlib.Path(one) for one in arguments]
    found = sorted((ROOT / "examples").glob("*/*.json")) + sorted((ROOT / "examples").glob("*/*.yaml"))
    shared = os.environ.get("TOOLWRIGHT_SHARED")
    if shared:
        found += sorted(pathlib.Path(shared, "corpus").glob("*/*.json"))
    return found


def tools_of(document):
    """The list of tools that a request would hold; `convert` may write it under a key."""
    if isinstance(document, dict):
        document = document.get("tools", [document])
    return document


def main(binary, _work, *arguments):
    warnings.simplefilter("ignore")
    judge_the_judge()
    wrong = []
    for target, vendor in JUDGES.items():
        judged, tools, refused = 0, 0, 0
        for source in sources(arguments):
            command = [binary, "convert", str(source), "--to", target, "--losses", "none"]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
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
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
