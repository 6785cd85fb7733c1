"""Validates SARIF documents against the schema of OASIS, and compares their regions with the files.

    sarif.py SCHEMA ROOT DOCUMENT…

The schema cannot express that a rule's index belongs to that rule, nor that lines and columns name
the same text as bytes do. This is checked here, for every file that a relative URI names below
ROOT. Exit 1 if anything is wrong.
"""

import json
import pathlib
import sys
import urllib.parse

import jsonschema

OASIS = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


def validator(path):
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema["$id"] == OASIS, f"{path} is not the schema of OASIS"
    kind = jsonschema.validators.validator_for(schema)
    # Without the package rfc3986-validator these formats would not be checked.
    assert {"uri", "uri-reference"} <= kind.FORMAT_CHECKER.checkers.keys(), "URIs are not checked"
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def regions(value):
    """Every region in a result, with the URI of its file."""
    if isinstance(value, list):
        for item in value:
            yield from regions(item)
    elif isinstance(value, dict):
        uri = value.get("artifactLocation", {}).get("uri")
        if "region" in value:
            yield uri, value["region"]
        for replacement in value.get("replacements", []):
            yield uri, replacement["deletedRegion"]
        for item in value.values():
            yield from regions(item)


def text_by_columns(data, region):
    lines = [line.encode("utf-16-le") for line in data.decode("utf-8-sig").split("\n")]
    first, last = region["startLine"] - 1, region["endLine"] - 1
    start = sum(len(line) + 2 for line in lines[:first]) + 2 * (region["startColumn"] - 1)
    end = sum(len(line) + 2 for line in lines[:last]) + 2 * (region["endColumn"] - 1)
    return "\n".encode("utf-16-le").join(lines)[start:end].decode("utf-16-le", "replace")


def text_by_bytes(data, region):
    return data[region["byteOffset"] :][: region["byteLength"]].decode("utf-8", "replace")


def schema_mistakes(document, schema):
    for error in sorted(schema.iter_errors(document), key=lambda error: error.json_path):
        yield f"{error.json_path}: {error.message}"


def rule_mistakes(run):
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        if rules[result["ruleIndex"]] != result["ruleId"]:
            yield f"rule {result['ruleIndex']} is not {result['ruleId']}"


def places(run, root):
    """The text of every region of a file below `root`, by columns and by bytes."""
    for uri, region in regions(run["results"]):
        file = root / urllib.parse.unquote(uri)
        if not urllib.parse.urlsplit(uri).scheme and file.is_file():
            data = file.read_bytes()
            yield uri, text_by_columns(data, region), text_by_bytes(data, region)


def main():
    schema, root = validator(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    wrong, results, held = [], 0, 0
    for path in sys.argv[3:]:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        found = list(schema_mistakes(document, schema))
        for run in [] if found else document["runs"]:
            results += len(run["results"])
            found += rule_mistakes(run)
            texts = list(places(run, root))
            held += len(texts)
            found += [f"{uri}: columns say {c!r}, bytes say {b!r}" for uri, c, b in texts if c != b]
        wrong += [f"WRONG {path}: {mistake}" for mistake in found]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    assert wrong or held, "no place was held against a file"
    print(f"sarif: {len(wrong)} mistakes" if wrong else f"sarif: {results} results are valid, {held} places agree")
    sys.exit(1 if wrong else 0)


main()
