"""A tool that needs a grant, called through `toolwright serve` with the official SDKs: the person
is asked by elicitation, and answers once, no, and for the session.

    client ─ tools/call ─▶ toolwright serve ─ elicitation/create ─▶ client ─ "once" ─▶ the tool runs

Revisions without sessions offer no answer for one. Each client has a store of its own; what is on
record afterwards must be what was answered.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from peers import HERE, Peers, Tally

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()
PY = [PEERS.python, str(HERE / "granting_client.py")]
MJS = [PEERS.node, str(HERE / "granting_client.mjs")]
CLIENTS = {
    "Python": [*PY, "auto"],
    "Python, handshake": [*PY, "legacy"],
    "TypeScript 1.x": [*MJS, "1.x", str(PEERS.modules)],
    "TypeScript 2.x": [*MJS, "2.x", str(PEERS.modules)],
}
ANSWERS = ["once", "no", "session", "no"]
WITH_SESSION, WITHOUT = ["once", "session", "no"], ["once", "no"]
# The words that are offered, and whether the call fails. The last call of a session that was
# allowed is not asked about.
EXPECTED = {
    "session": [[WITH_SESSION, False], [WITH_SESSION, True], [WITH_SESSION, False], [None, False]],
    "no session": [[WITHOUT, False], [WITHOUT, True], [WITHOUT, True], [WITHOUT, True]],
}
PRESS = {
    "btcp": "1.0", "name": "press", "version": "1.0.0", "capabilities": ["printer:print"],
    "tools": [{
        "name": "print", "description": "Prints a text on paper.", "capabilities": ["printer:print"],
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }],
}  # fmt: skip

for name, command in CLIENTS.items():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "press.json").write_text(json.dumps(PRESS))
        (folder / "print.js").write_text("export default ({ text }) => ({ printed: text });")
        (folder / "toolwright.toml").write_text('[[source]]\nname = "press"\npath = "press.json"\n')
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
        server = [PEERS.binary, "serve", "--config", str(folder / "toolwright.toml")]
        done = subprocess.run(
            [*command, json.dumps(server), json.dumps(ANSWERS)], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr[-2000:]
        kinds = [kind for kind, expected in EXPECTED.items() if found == expected]
        TALLY.check(kinds, f"{name} was asked: {found}")
        audit = subprocess.run(
            [PEERS.binary, "audit", "--output-format", "json"], env=environment, capture_output=True, text=True
        )
        grants = [json.loads(line)["grants"] for line in audit.stdout.splitlines()]
        wanted = {
            "session": [["printer:print (once)"], [], ["printer:print (session)"], ["printer:print (session)"]],
            "no session": [["printer:print (once)"], [], [], []],
        }
        TALLY.check(kinds and grants == wanted[kinds[0]], f"{name}: on record are {grants}")

TALLY.end(f"granting: {len(CLIENTS)} clients of both SDKs asked once, for the session and no")
