"""Every feature of server-everything, directly and through `toolwright serve`, with the official
SDKs.

    client ─▶ server-everything                        what a client gets directly
    client ─▶ toolwright serve ─▶ server-everything    what comes through

The clients are the Python SDK (newest revision, and the handshake) and the TypeScript SDKs 1.x and
2.x; both ways are on standard streams and over HTTP. Prints a table in Markdown, and fails if a
feature that works directly does not come through as it is.
"""

import base64
import concurrent.futures
import contextlib
import json
import re
import subprocess
import sys

from peers import HERE, Peers, Tally, listening, plain

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()
FIXTURE = [sys.executable, str(HERE / "conformance_server.py")]
MJS = [PEERS.node, str(HERE / "features_client.mjs")]
PY = [PEERS.python, str(HERE / "features_client.py")]
CLIENTS = {
    "Python": [*PY, "auto"],
    "Python, handshake": [*PY, "legacy"],
    "TypeScript 1.x": [*MJS, "1.x", str(PEERS.modules)],
    "TypeScript 2.x": [*MJS, "2.x", str(PEERS.modules)],
}
TRANSPORTS = ["stdio", "http"]
DOCS = HERE.parent / "docs" / "serving.md"
WAYS = ["direct", "through"]


def seen(client, everything, fixture):
    """What a client saw, by feature."""
    command = [*CLIENTS[client], json.dumps(everything), json.dumps(fixture)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if done.returncode or not done.stdout:
        return {"revision": {"error": f"exit {done.returncode}: {done.stderr[-2000:]}"}}
    # The SDK may print warnings before.
    last = done.stdout.splitlines()[-1]
    return {feature: comparable(feature, value) for feature, value in json.loads(last).items()}


def comparable(feature, value):
    """A value without what differs between two calls, or between two runs of the server."""
    if feature == "revision":
        return value
    value = rename(plain(value))
    if feature == "progress" and isinstance(value, list):
        # The TypeScript SDK loses a report that arrives together with the result.
        return value[:3]
    if feature == "resources/read: template, blob" and isinstance(value, list):
        return plain(base64.b64decode(value[0]["blob"]).decode())
    return value


def rename(value):
    """Without the prefix of the source in names, and without the metadata of Toolwright."""
    if isinstance(value, dict):
        # SDKs fill in this default, or do not.
        kept = {key: item for key, item in value.items() if (key, item) != ("isError", False)}
        kept = {key: {k: v for k, v in item.items() if not k.startswith("toolwright/")} if key == "_meta" else item
                for key, item in kept.items()}  # fmt: skip
        return {rename(key): rename(item) for key, item in kept.items() if not (key == "_meta" and not item)}
    if isinstance(value, list):
        return [rename(item) for item in value]
    return re.sub(r"^everything__", "", value) if isinstance(value, str) else value


def works(value):
    return not (isinstance(value, dict) and "error" in value)


def comes_through(feature, direct, through):
    """Whether a feature is not worse than directly."""
    if feature == "revision":
        return works(through)
    if not works(direct) or direct is None:
        return True
    if feature == "ping" and through is None:
        # The newest revision does not have it.
        return True
    if feature == "instructions":
        # Those of all servers are joined, each under the name of its source.
        return isinstance(through, str) and through.startswith("## ") and direct.strip() in through
    return through == direct


def probes(sources):
    """All runs, as (client, transport, way): what the client saw."""
    keys = [(client, transport, way) for client in CLIENTS for transport in TRANSPORTS for way in WAYS]
    # Enough to wait for each other's pauses, and few enough not to be slow.
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        results = pool.map(lambda key: seen(key[0], *sources[key]), keys)
        return dict(zip(keys, results))


def shown(direct, through, is_good):
    if direct is None:
        return "—"
    if not works(direct):
        return "not directly either"
    if not is_good:
        return "**lost**"
    return "not in this revision" if through is None else "same"


def main():
    direct_stdio, direct_http = PEERS.servers["everything"]
    sources = {}
    with contextlib.ExitStack() as stack:

        def everything():
            """A server of its own: its sessions share the resources that tools make, so clients of
            one disturb each other."""
            url = stack.enter_context(listening(direct_http))
            return url if url.endswith("/mcp") else f"{url}/mcp"

        for client in CLIENTS:
            sources[client, "stdio", "direct"] = (direct_stdio, FIXTURE)
            sources[client, "stdio", "through"] = (PEERS.serve("--", *direct_stdio), PEERS.serve("--", *FIXTURE))
            sources[client, "http", "direct"] = (everything(), FIXTURE)
            # All clients of a gateway share its connection to the server, and so the resources that
            # it makes for a session and its level of logging. Directly each has a session, so here
            # each has a gateway.
            gateway = stack.enter_context(PEERS.serving("--from", everything()))
            sources[client, "http", "through"] = (gateway, stack.enter_context(PEERS.serving("--", *FIXTURE)))
        found = probes(sources)
        # A log message that the server sends on another stream than the answer may arrive after it.
        # Then a stateless client has no open request on which it could get it. Such a moment is not
        # a lost feature, so it gets another try.
        for client in CLIENTS:
            for transport in TRANSPORTS:
                direct, through = (found[client, transport, way] for way in WAYS)
                lost = {name for name in direct if not comes_through(name, direct[name], through.get(name))}
                if lost and lost <= {"logging", "logging: level"}:
                    print(f"trying {client}, {transport} again", file=sys.stderr)
                    again = seen(client, *sources[client, transport, "through"])
                    found[client, transport, "through"] = {**through, **{name: again.get(name) for name in lost}}
    columns = [(client, transport) for client in CLIENTS for transport in TRANSPORTS]
    features = list(dict.fromkeys(feature for values in found.values() for feature in values))
    print("| feature | " + " | ".join(f"{client}, {transport}" for client, transport in columns) + " |")
    print("|---|" + "---|" * len(columns))
    lost = 0
    for feature in features:
        cells = []
        for column in columns:
            missing = {"error": "the client has not come so far"}
            direct, through = (found[(*column, way)].get(feature, missing) for way in WAYS)
            if feature == "revision":
                cells.append(f"{direct} → {through}" if works(direct) and works(through) else "**lost**")
            is_good = comes_through(feature, direct, through)
            lost += not is_good
            before, after = json.dumps(direct)[:400], json.dumps(through)[:400]
            TALLY.check(is_good, f"{', '.join(column)}: {feature}\n  directly: {before}\n  through:  {after}")
            if feature != "revision":
                cells.append(shown(direct, through, is_good))
        print(f"| {feature} | " + " | ".join(cells) + " |")
    documented = re.findall(r"^\| (.+?) \|", DOCS.read_text().split("## The same as without Toolwright")[1].split("\n## ")[0], re.M)
    TALLY.check(documented[1:] == features, f"docs/serving.md lists {documented[1:]}, not {features}")
    direct = [values for (_, _, way), values in found.items() if way == "direct"]
    count = sum(works(value) for values in direct for value in values.values())
    TALLY.check(count == len(features) * len(columns), "a feature does not work directly")
    TALLY.end(f"features: {len(features)} features, {len(columns)} ways, {lost} lost")


main()
