"""The official conformance suite against `toolwright serve --http`, for every revision that it
supports.

Behind Toolwright is the server of `conformance_server.py`, once with the handshake and once
stateless, so that every revision in front meets both behind. Every scenario of a revision must run
and pass, without warnings. What cannot pass is listed in `conformance-expected.yml` (defects of the
suite) and in `OUT_OF_REACH`; an entry that nothing needs is an error as well.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

from peers import HERE, Peers, Tally

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()
PACKAGE = PEERS.modules / "@modelcontextprotocol/conformance"
SUITE = [PEERS.node, str(PACKAGE / "dist/index.js")]
EXPECTED = set(yaml.safe_load((HERE / "conformance-expected.yml").read_text())["server"])
# More would hide what Toolwright gets wrong.
MOST_EXPECTED = 5

UPSTREAMS = {"handshake": [], "stateless": ["--stateless"]}
REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"]
# The extension for tasks belongs to the newest revision. A server with the handshake cannot have
# it.
WITH_TASKS = ("stateless", "2026-07-28")
# Scenarios in which nothing is checked: the suite skips the first one always. The second is about
# event streams, and Toolwright answers its call with plain JSON.
EMPTY = {"tasks-status-notifications", "server-sse-polling"}
# A server with the handshake asks by requests, and requests have no keys. These scenarios expect
# the key that the suite's own fixture uses, or an answer to be accepted before anything was asked.
# Both pass with the other upstream.
OUT_OF_REACH = {
    ("handshake", "2026-07-28"): {
        "input-required-result-basic-elicitation:sep-2322-elicitation-incomplete",
        "input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params",
    }
}


def listed(*filters):
    """The names of the server scenarios that the suite lists."""
    run = subprocess.run([*SUITE, "list", "--server", *filters], capture_output=True, text=True, timeout=60)
    return re.findall(r"^  - (\S+) \[", run.stdout, re.M)


def required(revision):
    """The scenarios that a revision requires, as the suite has frozen them; none for older
    revisions."""
    path = PACKAGE / f"requirements/{revision}.yaml"
    return yaml.safe_load(path.read_text())["server"] if path.exists() else []


def checks_of(upstream, revision):
    """Runs the suite against a gateway. Returns the checks by scenario."""
    server = [sys.executable, str(HERE / "conformance_server.py"), *UPSTREAMS[upstream]]
    what = ["--suite", "all", "--spec-version", revision]
    if (upstream, revision) == WITH_TASKS:
        what = ["--requirements", revision]
    with PEERS.serving("--", *server) as url, tempfile.TemporaryDirectory() as folder:
        command = [*SUITE, "server", "--url", url, "--output-dir", folder, *what]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
        found = {}
        for path in pathlib.Path(folder).rglob("checks.json"):
            # The name of the folder is `server`, the scenario and the time.
            name = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT.*", path.parent.name)[1]
            found[name] = json.loads(path.read_text())
        return found


def judge(upstream, revision, scenarios, found):
    """Checks one run. Returns the number of scenarios that passed and the expected entries that
    were used."""
    plan = (upstream, revision)
    excused = EXPECTED | OUT_OF_REACH.get(plan, set())
    used, passed = set(), 0
    for scenario in scenarios:
        checks = found.get(scenario, [])
        bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
        good = [check for check in checks if check["status"] == "SUCCESS"]
        entries = {f"{scenario}:{check['id']}" for check in bad} | ({scenario} if bad else set())
        used |= entries & excused
        wrong = [check for check in bad if not {scenario, f"{scenario}:{check['id']}"} & excused]
        passed += bool(good) and not bad
        where = f"{upstream} upstream, {revision}: {scenario}"
        TALLY.check(good or bad or scenario in EMPTY, f"{where} did not run")
        for check in wrong:
            TALLY.check(False, f"{where}: {check['id']}: {check.get('errorMessage') or check['description']}")
    return passed, used


def main():
    promised = {revision: listed("--spec-version", revision) for revision in REVISIONS}
    for revision in REVISIONS:
        lacking = set(required(revision)) - set(promised[revision])
        TALLY.check(promised[revision] and not lacking, f"{revision}: {lacking} are required, and not run")
    plans = {(upstream, revision): promised[revision] for upstream in UPSTREAMS for revision in REVISIONS}
    plans[WITH_TASKS] = plans[WITH_TASKS] + [name for name in listed() if name.startswith("tasks-")]
    with concurrent.futures.ThreadPoolExecutor(len(plans)) as pool:
        results = list(pool.map(lambda plan: checks_of(*plan), plans))
    used, passed, ran = set(), 0, 0
    print("| upstream | revision | scenarios passed |\n|---|---|---|")
    for ((upstream, revision), scenarios), found in zip(plans.items(), results):
        count, needed = judge(upstream, revision, scenarios, found)
        used, passed, ran = used | needed, passed + count, ran + len(scenarios)
        print(f"| {upstream} | {revision} | {count} of {len(scenarios)} |")
    entries = EXPECTED.union(*OUT_OF_REACH.values())
    TALLY.check(used == entries, f"expected failures that nothing needs: {sorted(entries - used)}")
    TALLY.check(len(EXPECTED) <= MOST_EXPECTED, f"{len(EXPECTED)} expected failures, more than {MOST_EXPECTED}")
    TALLY.end(f"conformance: {passed} of {ran} scenario runs pass, {len(entries)} known failures")


main()
