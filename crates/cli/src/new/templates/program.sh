#!/bin/sh
# A tool that is a program: `--schema` prints what it is. Otherwise one JSON object comes in on
# standard input and one goes out; `{"error": "…"}` and another exit status than 0 are failures.
if [ "$1" = "--schema" ]; then
  exec cat <<'SCHEMA'
__SCHEMA__
SCHEMA
fi
exec python3 -c '
import json, sys
arguments = json.load(sys.stdin)
print(json.dumps({"text": arguments["text"][::-1]}))
'
