"""The script of slugs.yaml: the command is the first argument, JSON comes in and goes out."""

import json
import re
import sys
import unicodedata

arguments = json.load(sys.stdin)
if sys.argv[1:] != ["make_slug"]:
    print(json.dumps({"error": f"unknown command {sys.argv[1:]}"}))
    sys.exit(1)
plain = unicodedata.normalize("NFKD", arguments["title"]).encode("ascii", "ignore").decode().lower()
slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
if not slug:
    print(json.dumps({"error": "nothing of the title can stand in a file name"}))
    sys.exit(1)
print(json.dumps({"slug": slug}))
