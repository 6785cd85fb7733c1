"""The first minute of a new user: `check` and `list` on twelve servers of other authors in one
`.mcp.json`. Everything that `check` prints by default fits on a screen, and every server has
answered.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from peers import HERE, Peers, Tally

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()

# The most lines that `check` may print for all of them.
MOST_LINES = 40


def servers(folder):
    """The entries of the servers file, by name."""

    def node(script, *arguments, **more):
        return {"command": PEERS.node, "args": [str(PEERS.modules / script), *arguments], **more}

    def python(*arguments):
        return {"command": PEERS.python, "args": list(arguments)}

    return {
        "everything": node("@modelcontextprotocol/server-everything/dist/index.js"),
        "filesystem": node("@modelcontextprotocol/server-filesystem/dist/index.js", folder),
        "memory": node("@modelcontextprotocol/server-memory/dist/index.js"),
        "sequential-thinking": node("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
        "time": python("-m", "mcp_server_time", "--local-timezone", "UTC"),
        "git": python("-m", "mcp_server_git"),
        "fetch": python("-m", "mcp_server_fetch"),
        "context7": node("@upstash/context7-mcp/dist/index.js"),
        "playwright": node("@playwright/mcp/cli.js"),
        "chrome-devtools": node("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"),
        # It lists its tools without asking anybody whether the token is right.
        "notion": node("@notionhq/notion-mcp-server/bin/cli.mjs", env={"NOTION_TOKEN": "${NOTION_TOKEN}"}),
        "kinds": python(str(HERE / "fastmcp_server.py")),
    }


def run(folder, *arguments):
    """Runs the program in the folder of the servers file."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "NOTION_TOKEN": "none"}
    command = [PEERS.binary, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180
    )
    # On a slow machine it names the servers that it waits for.
    errors = [line for line in done.stderr.splitlines() if not line.startswith("toolwright: waiting for: ")]
    return done.returncode, done.stdout, "\n".join(errors)


with tempfile.TemporaryDirectory() as folder:
    named = servers(folder)
    (pathlib.Path(folder) / ".mcp.json").write_text(json.dumps({"mcpServers": named}, indent=2))

    code, out, err = run(folder, "check", ".mcp.json")
    print(out, end="")
    lines = len(out.splitlines()) + len(err.splitlines())
    TALLY.check(code == 0 and not err, f"check: exit {code}\n{err}")
    TALLY.check(lines <= MOST_LINES, f"check prints {lines} lines, more than {MOST_LINES}")

    # What the default leaves out is all there.
    code, out, err = run(folder, "check", "--output-format", "json", ".mcp.json")
    findings = [json.loads(line) for line in out.splitlines()]
    TALLY.check(all(finding["source"] in named for finding in findings), "every finding names its server")
    for finding in findings:
        file = finding["file"]
        TALLY.check(file is None or (pathlib.Path(folder) / file).is_file(), f"{file} does not exist: {finding}")

    code, out, err = run(folder, "list", ".mcp.json")
    listed = {line.split(":")[0] for line in out.splitlines()}
    TALLY.check(code == 0 and listed == set(named), f"list: exit {code}, {sorted(set(named) - listed)} missing\n{err}")
    TALLY.end(f"twelve servers: {len(out.splitlines())} tools, {len(findings)} findings in {lines} lines")
