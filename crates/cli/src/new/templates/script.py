"""The script of __NAME__.yaml: the command is the first argument, JSON comes in and goes out."""

import json
import sys

arguments = json.load(sys.stdin)
if sys.argv[1:] != ["reverse_text"]:
    print(json.dumps({"error": f"unknown command {sys.argv[1:]}"}))
    sys.exit(1)
print(json.dumps({"text": arguments["text"][::-1]}))
