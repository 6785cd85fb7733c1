"""The official conformance suite against `toolwright serve --http`, for every revision that it supports.

Scenarios that Toolwright supports must pass; the others must fail as listed in
`conformance-expected.yml`, and a line of that file that is not needed any more is an error as well.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from peers import HERE, Peers, Tally

PEERS = Peers(sys.argv[1], sys.argv[2])
SUITE = PEERS.modules / "@modelcontextprotocol/conformance/dist/index.js"
EXPECTED = HERE / "conformance-expected.yml"

TOOLS = """tools-list tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
    tools-call-mixed-content tools-call-error tools-call-with-progress""".split()
SESSIONS = ["server-initialize", "server-session-lifecycle", "ping"]
SINCE_2025_11 = ["json-schema-2020-12", "server-sse-multiple-streams", "dns-rebinding-protection"]
# The scenarios that must run and pass. `None` is the default of the suite, which includes extensions.
PROMISED = {
    "2025-06-18": [*SESSIONS, *TOOLS],
    "2025-11-25": [*SESSIONS, *TOOLS, *SINCE_2025_11, "server-sse-polling"],
    "2026-07-28": [
        *TOOLS,
        *SINCE_2025_11,
        "caching",
        "http-header-validation",
        "http-custom-header-server-validation",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    ],
    None: [],
}


def suite(url, expected, *more):
    command = [PEERS.node, str(SUITE), "server", "--url", url, "--expected-failures", str(expected), *more]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
    return run.returncode, re.sub(r"\x1b\[\d+m", "", run.stdout)


def main():
    tally = Tally()
    lines = [line.strip() for line in EXPECTED.read_text().splitlines()]
    entries = {line[2:] for line in lines if line.startswith("- ")}
    used, passed, ran = set(), 0, 0
    with PEERS.serving("--", sys.executable, str(HERE / "conformance_server.py")) as url:
        for revision, promised in PROMISED.items():
            more = ["--spec-version", revision] if revision else []
            code, output = suite(url, EXPECTED, "--suite", "all", *more)
            summary = output[output.find("=== SUMMARY ===") :]
            tally.check(code == 0, f"{revision or 'all'}: not as expected\n{summary}")
            marks = dict(re.findall(r"^[✓✗] (\S+): (\d+ passed, \d+ failed)", summary, re.M))
            failed = set(re.findall(r"^✗ (\S+):", summary, re.M))
            for scenario in promised:
                good = scenario not in failed and not marks.get(scenario, "0 passed").startswith("0 passed")
                tally.check(good, f"{revision}: {scenario} {marks.get(scenario, 'did not run')}")
            used |= set(re.findall(r"^  ~ (\S+)", summary, re.M))
            ran, passed = ran + len(marks), passed + len(marks) - len(failed)
        tally.check(used == entries, f"lines of {EXPECTED.name} that nothing needs: {sorted(entries - used)}")
        # The suite does fail for a line that is not needed.
        with tempfile.TemporaryDirectory() as folder:
            stale = pathlib.Path(folder, "stale.yml")
            stale.write_text("server:\n  - ping\n")
            code, output = suite(url, stale, "--scenario", "ping", "--spec-version", "2025-11-25")
            tally.check(code == 1 and "stale" in output, f"a stale line went unnoticed\n{output}")
    known = f"{len(entries)} known failures"
    tally.end(f"conformance: {passed} of {ran} scenario runs pass, {known}, 3 revisions and the extensions")


main()
