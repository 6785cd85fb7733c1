"""Reads YAML with Toolwright, PyYAML and js-yaml and compares the values.

The files are the examples, and texts made here that use every scalar style, anchors, merge keys
and comments. PyYAML reads YAML 1.1, so the texts avoid what YAML 1.2 changed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

BINARY, NODE, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

TEXTS = {
    "styles": "a: plain text\nb: 'it''s'\nc: \"tab\\t\\u00e9\\x41\"\nd: |\n  one\n    two\n\n  three\ne: >-\n  folded\n  text\n\n  next\nf: |+\n  keep\n\ng: multi\n  line plain\n",
    "anchors": "base: &base {x: 1, y: [a, b]}\ncopy: *base\nmerged:\n  <<: *base\n  x: 2\nlist:\n  - &item one\n  - *item\n",
    "nesting": "- - a\n  - b\n- key: v\n  other:\n  - 1\n  - 2.5\n- {f: [true, false, null]}\n",
    "numbers": "i: -12\nf: 2.50\ne: 1.0e+3\nz: 0\ns: '12'\nv: 1.0.0\n",
    "comments": "# top\na: 1 # one\n# between\nb: '# not a comment'\nc: a#b\n",
    "unicode": "\u00fcber: \"\\U0001F600 \u65e5\u672c\"\nemoji: \U0001F600\n",
    "crlf": "a: 1\r\nb: |\r\n  x\r\n  y\r\nc:\r\n  - d\r\n",
}

JS = """
const yaml = require(process.argv[1] + '/node_modules/js-yaml');
const text = require('node:fs').readFileSync(0, 'utf8');
process.stdout.write(JSON.stringify(yaml.load(text)));
"""


def reads_as(text, value):
    """Whether Toolwright reads `text` as `value`: it validates against a schema that only `value`
    matches."""
    with tempfile.TemporaryDirectory() as folder:
        instance, schema = pathlib.Path(folder, "instance.yaml"), pathlib.Path(folder, "schema.json")
        instance.write_bytes(text.encode())
        schema.write_text(json.dumps({"const": value}))
        run = subprocess.run([BINARY, "validate", str(schema), str(instance)], capture_output=True, text=True)
        return run.returncode == 0, run.stderr


def main():
    texts = dict(TEXTS)
    for path in sorted(EXAMPLES.rglob("*.yaml")):
        texts[str(path)] = path.read_text(encoding="utf-8")
    wrong = 0
    for name, text in texts.items():
        js = json.loads(subprocess.run(["node", "-e", JS, NODE], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout)
        values = {"js-yaml": js, "PyYAML": json.loads(json.dumps(yaml.safe_load(text)))}
        for peer, value in values.items():
            same, report = reads_as(text, value)
            if not same:
                wrong += 1
                print(f"WRONG {name}: not what {peer} reads: {json.dumps(value)}\n{report}")
    assert texts, "there are examples"
    print(f"yaml peers: {len(texts)} texts read alike" if not wrong else f"yaml peers: {wrong} differ")
    sys.exit(1 if wrong else 0)


main()
