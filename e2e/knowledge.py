"""An AIOS definition in front of a third-party server: its validators refuse bad calls before they
are sent, its processor reshapes what the server answers, on the command line and for FastMCP's
client.
"""

import asyncio
import json
import shlex
import sys

from peers import Peers, Tally, connect

PEERS = Peers(sys.argv[1], sys.argv[2])
TALLY = Tally()

DEFINITION = """tool:
  schema_version: 2.0
  id: times
  type: mcp
  name: Times
  version: 1.0.0
  description: The time elsewhere, with what the server's schema does not say.
  commands: [get_current_time, convert_time]
  executable_knowledge:
    processors:
      - id: only-the-time
        language: javascript
        processes: convert_time
        function: |
          module.exports = ({ target }) => ({ there: target.datetime.slice(11, 16), zone: target.timezone });
    validators:
      - id: full-zones
        validates: convert_time
        language: javascript
        checks:
          - required_fields: [time]
        function: |
          function fullZones(args) {
            const errors = [];
            for (const name of ['source_timezone', 'target_timezone']) {
              if (!/^[A-Z].*\\//.test(args[name])) errors.push(`${name} must be a full name`);
            }
            return { valid: errors.length === 0, errors };
          }
          module.exports = { fullZones };
  anti_patterns:
    - pattern: timezone_by_letters
      description: "Naming a timezone by its letters"
      wrong: "convert_time({ source_timezone: 'CET' })"
      correct: "convert_time({ source_timezone: 'Europe/Berlin' })"
  mcp_specific:
    server_command: COMMAND
    transport: stdio
"""

GOOD = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
BAD = {"source_timezone": "CET", "time": "12:00", "target_timezone": "Asia/Tokyo"}


def called(path, arguments):
    code, out, err = PEERS.run("call", "times:convert_time", "--from", path, "--json", "--args", json.dumps(arguments))
    return code, json.loads(out) if out else err


async def served(path):
    async with connect(PEERS.serve("--from", path)) as client:
        good = await client.call_tool_mcp("times__convert_time", GOOD)
        bad = await client.call_tool_mcp("times__convert_time", BAD)
        other = await client.call_tool_mcp("times__get_current_time", {"timezone": "UTC"})
        return good, bad, other


def main():
    path = PEERS.work / "times.yaml"
    command = shlex.join(PEERS.servers["time"][0])
    path.write_text(DEFINITION.replace("COMMAND", json.dumps(command)))
    code, good = called(str(path), GOOD)
    structured = good.get("structuredContent", {})
    # Berlin is seven or eight hours behind Tokyo.
    right = structured.get("there") in ("19:00", "20:00") and structured.get("zone") == "Asia/Tokyo"
    TALLY.check(code == 0 and right, f"a good call gave {good}")
    code, bad = called(str(path), BAD)
    error = bad.get("error", {})
    messages = [entry["message"] for entry in error.get("errors", [])]
    TALLY.check(code == 1 and error.get("code") == "VALIDATION_FAILED", f"a bad call gave {bad}")
    TALLY.check(messages == ["source_timezone must be a full name"], f"it was refused for {messages}")
    advice = [entry.get("correct") for entry in error.get("advice", [])]
    TALLY.check(advice == ["convert_time({ source_timezone: 'Europe/Berlin' })"], f"the advice was {advice}")
    good, bad, other = asyncio.run(served(str(path)))
    TALLY.check(good.structured_content == structured, f"an agent was given {good}")
    TALLY.check(bad.is_error and "full name" in bad.content[0].text, f"an agent was not refused: {bad}")
    TALLY.check(not other.is_error and "datetime" in other.content[0].text, f"another command gave {other}")
    TALLY.end("knowledge in front of a third-party server")


main()
