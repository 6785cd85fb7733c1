"""`check` on third-party servers: every finding is true of the answer of the server, and the same
on standard streams and over HTTP. sarif.py validates the SARIF output.
"""

import asyncio
import collections
import json
import sys

from peers import Peers, Tally, connect

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()

# The tools with a finding, by code, as the source of the servers shows them. Findings about vendors
# are compared with the schema below.
EXPECTED = {
    "everything": {
        # Descriptions are missing for one parameter of one tool.
        "MISSING_PARAMETER_DESCRIPTION": {"get-resource-reference"},
        # zod schemas that are not strict.
        "OPEN_OBJECT": {
            "echo",
            "get-annotated-message",
            "get-resource-links",
            "get-resource-reference",
            "get-structured-content",
            "get-sum",
            "gzip-file-as-resource",
            "trigger-long-running-operation",
            "trigger-sampling-request",
            "trigger-url-elicitation",
            "simulate-research-query",
        },
    },
    # Written by hand, without `additionalProperties`.
    "time": {"OPEN_OBJECT": {"get_current_time", "convert_time"}},
    # Functions whose parameters have no descriptions.
    "kinds": {"MISSING_PARAMETER_DESCRIPTION": {"add", "forecast", "count", "fail"}},
}


# Where findings about the instructions of a server are.
INSTRUCTIONS = "/_meta/toolwright~1instructions"


async def answer_of(source):
    """The tools and the instructions of a server."""
    async with connect(source) as client:
        return await client.list_tools(), client.instructions or ""


def check(source):
    given = [source] if isinstance(source, str) else ["--", *source]
    code, out, err = PEERS.run("check", "--target", "gemini-openapi", "--output-format", "json", *given)
    TALLY.check(code == 0 and not err, f"{given}: exit {code}\n{err}")
    return [json.loads(line) for line in out.splitlines()]


def agrees(name, findings, tools, instructions):
    """Whether the answer of the server shows every finding."""
    by_code = collections.defaultdict(set)
    for finding in findings:
        code, words = finding["code"], finding["path"].split("/")
        if finding["path"] == INSTRUCTIONS:
            # The quoted words are in the instructions.
            quoted = finding["message"].split("`")[1]
            is_true = finding["severity"] == "warning" and quoted in instructions
            TALLY.check(is_true, f"{name}: {finding['message']}: {instructions}")
            by_code[code].add(None)
            continue
        tool = tools[int(words[2])]
        what = f"{name}: {finding['path']}: {finding['message']}"
        is_vendors = code == "VENDOR_INCOMPATIBLE"
        TALLY.check(finding["severity"] == ("warning" if is_vendors else "info"), what)
        if is_vendors:
            # The keyword in its message is in the schema.
            keyword = finding["message"].split("`")[1]
            TALLY.check(f'"{keyword}"' in json.dumps(tool.input_schema), what)
        else:
            by_code[code].add(tool.name)
    wanted = EXPECTED[name.removesuffix("-http")]
    TALLY.check(by_code == wanted, f"{name}: found {dict(by_code)}, expected {wanted}")


async def main():
    found = {}
    with PEERS.sources() as sources:
        for name, source in sources.items():
            found[name] = check(source)
            agrees(name, found[name], *await answer_of(source))
    for name in [name for name in found if name.endswith("-http")]:
        # Sorted: a server may write the keys of its schemas in another order in another revision of
        # the protocol.
        plain = sorted((f["code"], f["path"], f["message"]) for f in found[name])
        other = sorted((f["code"], f["path"], f["message"]) for f in found[name.removesuffix("-http")])
        TALLY.check(plain == other, f"{name}: {plain} is not what it is on standard streams: {other}")
    count = sum(len(findings) for findings in found.values())
    TALLY.end(f"checking: {len(found)} servers checked, {count} findings borne out")


asyncio.run(main())
