"""Runs the official JSON-Schema-Test-Suite through `toolwright validate --batch`.

Every required case of draft-07 and 2020-12 that needs no remote document must have the result of
the suite, and so must every optional case except formats. EXCEPTIONS lists the cases that differ,
with the reason; an exception that starts to pass is a failure, too.
"""

import json
import pathlib
import subprocess
import sys

BINARY, SUITE = sys.argv[1], pathlib.Path(sys.argv[2])
DIALECTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# The suite serves documents of its own from this address; nothing is ever fetched here.
REMOTE = "http://localhost:1234"
REFUSED = ("EXTERNAL_REF", "UNSUPPORTED_DIALECT")

CONTENT = "contentEncoding and contentMediaType annotate, in both dialects"
# "file | group | test" -> why it differs.
EXCEPTIONS = {
    "draft7/optional/content.json | validation of string-encoded content based on media type | an invalid JSON document": CONTENT,
    "draft7/optional/content.json | validation of binary string-encoding | an invalid base64 string (% is not a valid character)": CONTENT,
    "draft7/optional/content.json | validation of binary-encoded media type documents | a validly-encoded invalid JSON document": CONTENT,
    "draft7/optional/content.json | validation of binary-encoded media type documents | an invalid base64 string that is valid JSON": CONTENT,
}


def cases():
    for draft, dialect in DIALECTS.items():
        for path in sorted((SUITE / draft).rglob("*.json")):
            name = str(path.relative_to(SUITE))
            if "optional/format" in name:
                continue
            for group in json.loads(path.read_text(encoding="utf-8")):
                schema = group["schema"]
                if isinstance(schema, dict):
                    schema = {"$schema": dialect, **schema}
                remote = REMOTE in json.dumps(schema)
                for test in group["tests"]:
                    label = f'{name} | {group["description"]} | {test["description"]}'
                    yield label, schema, test["data"], test["valid"], remote


def main():
    table = list(cases())
    lines = "".join(
        json.dumps({"schema": schema, "instance": data}, ensure_ascii=False) + "\n"
        for _, schema, data, _, _ in table
    )
    run = subprocess.run([BINARY, "validate", "--batch"], input=lines.encode("utf-8", "surrogatepass"), stdout=subprocess.PIPE, check=False)
    results = [json.loads(line) for line in run.stdout.decode("utf-8").splitlines()]
    assert len(results) == len(table), f"{len(table)} lines in, {len(results)} out"
    counts = {"required": [0, 0], "optional": [0, 0], "remote": 0}
    wrong = []
    for (label, _, _, valid, remote), answer in zip(table, results):
        if remote and answer["result"] in REFUSED:
            counts["remote"] += 1
            continue
        kind = "optional" if "/optional/" in label else "required"
        expected = "valid" if valid else "invalid"
        passed = answer["result"] == expected
        if expected == "invalid" and passed:
            passed = bool(answer["errors"])
        counts[kind][1] += 1
        counts[kind][0] += passed
        if passed == (label in EXCEPTIONS):
            wrong.append(f"{label}: expected {expected}, got {json.dumps(answer)[:300]}")
    for kind in ("required", "optional"):
        print(f"schema suite: {counts[kind][0]} of {counts[kind][1]} {kind} cases pass")
    print(f"schema suite: {counts['remote']} cases need a remote document, refused")
    for line in wrong:
        print("WRONG", line)
    sys.exit(1 if wrong else 0)


main()
