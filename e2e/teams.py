"""What teams set up once: the schema of `toolwright.toml` in an editor, the hooks of pre-commit and
the action of GitHub. Each is run by the program that users run it with: Taplo, pre-commit and bash.

    teams.py BINARY WORK
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY, WORK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
TAPLO = WORK / "npm/node_modules/.bin/taplo"
SCRIPTS = WORK / "venv/bin"
SCHEMA = ROOT / "docs/toolwright.schema.json"

# A definition without a finding that fails, and one with an error.
GOOD = '{"name": "now", "description": "Returns the time.", "inputSchema": {"type": "object"}}'
BAD = GOOD.replace('"object"', '"objekt"')

# Lines of a configuration, and whether it is accepted.
CONFIGURATIONS = [
    ("[[source]]\nname = 'a'\npath = 'tools'\nformat = 'mcp'", True),
    ("[[source]]\nname = 'a'\ncommand = ['npx', '']\nenv = { A = '1' }", True),
    ("[[source]]\nname = 'a'\nurl = 'https://h/mcp'\nheaders = { A = '1' }", True),
    ("[limits]\ntimeout = 300_000\noutput_schema = 'warn'", True),
    ("[levels]\nOPEN_OBJECT = 'off'", True),
    ("[[ignore]]\nsource = 'a/*'\ncode = 'OPEN_OBJECT'\nreason = 'x'", True),
    ("[[ignore]]\ncode = 'OPEN_OBJECT'", False),
    ("[[ignore]]\ncode = 'OPEN_OBJEKT'\nreason = 'x'", False),
    ("[[souce]]", False),
    ("[source]\nname = 'a'\npath = 'tools'", False),
    ("[[source]]\npath = 'tools'", False),
    ("[[source]]\nname = 'a'", False),
    ("[[source]]\nname = 'a b'\npath = 'tools'", False),
    ("[[source]]\nname = 'a'\npath = 'tools'\nurl = 'https://h/mcp'", False),
    ("[[source]]\nname = 'a'\npath = 'tools'\nheaders = { A = '1' }", False),
    ("[[source]]\nname = 'a'\nurl = 'h/mcp'", False),
    ("[[source]]\nname = 'a'\npath = 'tools'\nformat = 'btpc'", False),
    ("[limits]\ntimeout = 300_001", False),
    ("[limits]\ntimeout = '5'", False),
    ("[levels]\nOPEN_OBJEKT = 'off'", False),
    ("[levels]\nOPEN_OBJECT = 'eror'", False),
]


def run(*command, cwd=ROOT, **environment):
    """The status and the output of a command, with both streams in one text."""
    command = [str(word) for word in command]
    environment = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=1800,
    )
    return done.returncode, done.stdout


def expect(what, condition, shown):
    if not condition:
        sys.exit(f"WRONG {what}\n{shown}")


def editors(folder):
    """Taplo, which editors use, and check-jsonschema agree with the program about
    configurations."""
    code, schema = run(BINARY, "schema")
    expect("the schema", code == 0 and schema == SCHEMA.read_text(), "docs/toolwright.schema.json is stale")
    code, out = run(SCRIPTS / "check-jsonschema", "--check-metaschema", SCHEMA)
    expect("the schema is draft-07", code == 0, out)
    # The first line of the example names the schema.
    code, out = run(TAPLO, "lint", "examples/toolwright.toml")
    expect("the example", code == 0, out)
    shutil.copy(SCHEMA, folder)
    path = folder / "toolwright.toml"
    for text, accepted in CONFIGURATIONS:
        path.write_text(f"#:schema ./{SCHEMA.name}\n{text}\n")
        taplo = run(TAPLO, "lint", path.name, cwd=folder)
        python = run(SCRIPTS / "check-jsonschema", "--schemafile", SCHEMA, path)
        # A silence that hits nothing is a finding, and no mistake of the file.
        silent = ["--ignore", "USELESS_SILENCE", "--output-format", "concise"]
        own = run(BINARY, "check", *silent, path.name, cwd=folder)
        answers = [taplo[0] == 0, python[0] == 0, "toolwright.toml:" not in own[1]]
        shown = f"{text}\n{answers}\n{taplo[1]}\n{python[1]}\n{own[1]}"
        expect("answers about a configuration", answers == [accepted] * 3, shown)
    return len(CONFIGURATIONS)


def git(folder, *arguments):
    name = ["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "-c", "init.defaultBranch=main"]
    code, out = run("git", *name, *arguments, cwd=folder)
    expect(f"git {arguments[0]}", code == 0, out)
    return out.strip()


def hooks(folder):
    """pre-commit with this repository's hooks: a commit with an error is refused."""
    manifest = ROOT / ".pre-commit-hooks.yaml"
    code, out = run(SCRIPTS / "pre-commit", "validate-manifest", manifest)
    expect("the hooks", code == 0, out)
    # What pre-commit clones: the hooks, and the program where its script looks for it.
    upstream, project = folder / "upstream", folder / "project"
    (upstream / "target/installed/bin").mkdir(parents=True)
    shutil.copy(manifest, upstream)
    shutil.copytree(ROOT / "hooks", upstream / "hooks")
    shutil.copy(BINARY, upstream / "target/installed/bin/toolwright")
    git(folder, "init", "--quiet", upstream)
    git(upstream, "add", "--all")
    git(upstream, "commit", "--quiet", "--message", "Hooks")
    revision = git(upstream, "rev-parse", "HEAD")

    project.mkdir()
    git(folder, "init", "--quiet", project)
    path = os.pathsep.join([str(BINARY.parent), str(SCRIPTS), os.environ["PATH"]])
    tried = 0
    for hook in yaml.safe_load(manifest.read_text()):
        config = {"repos": [{"repo": str(upstream), "rev": revision, "hooks": [{"id": hook["id"]}]}]}
        (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        # The hook must ignore a file that is not a definition.
        (project / "package.json").write_text('{"private": true}')
        for text, status in [(GOOD, 0), (BAD, 1)]:
            (project / "now.json").write_text(text)
            git(project, "add", "--all")
            code, out = run(
                "pre-commit", "run", "--all-files", cwd=project, PATH=path, PRE_COMMIT_HOME=folder / "home"
            )
            found = "INVALID_SCHEMA" in out
            expect(f"hook {hook['id']}", (code, found) == (status, status == 1) and "Skipped" not in out, out)
            tried += 1
        # Nothing that the hook is about has changed.
        git(project, "rm", "--quiet", "--cached", "now.json", "package.json", ".pre-commit-config.yaml")
        (project / "README.md").write_text("text")
        code, out = run(
            "pre-commit", "run", "--files", "README.md", cwd=project, PATH=path, PRE_COMMIT_HOME=folder / "home"
        )
        expect(f"hook {hook['id']} on another file", code == 0 and "Skipped" in out, out)
    return tried


def action(folder):
    """The action: its file is valid, and its steps do what a workflow needs."""
    file = ROOT / "action.yml"
    code, out = run(SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.github-actions", file)
    expect("action.yml", code == 0, out)
    action = yaml.safe_load(file.read_text())
    defaults = {name: value["default"] for name, value in action["inputs"].items()}
    (folder / "tools").mkdir()
    (folder / "tools/good.json").write_text(GOOD)
    (folder / "my tools").mkdir()
    (folder / "my tools/bad.json").write_text(BAD.replace("now", "later"))
    cases = [
        ({"paths": "tools"}, 0, []),
        ({}, 1, ["INVALID_SCHEMA"]),
        ({"paths": "tools\n\nmy tools\n"}, 1, ["INVALID_SCHEMA"]),
        ({"paths": "my tools", "args": "--fail-on  never\n--select INVALID_SCHEMA"}, 0, ["INVALID_SCHEMA"]),
        # Text of an input is never a command.
        ({"paths": "tools/$(touch owned)", "args": "--select INVALID_SCHEMA"}, 2, []),
        ({"paths": "tools", "args": "; touch owned"}, 2, None),
        ({"paths": "tools", "sarif": "my tools/out.sarif"}, 0, []),
        # Known findings do not fail; without a baseline there is nothing to compare with.
        ({"baseline": "my known.json"}, 0, []),
        ({"baseline": "none.json"}, 2, None),
    ]
    code, out = run(BINARY, "check", "--write-baseline", "my known.json", ".", cwd=folder)
    expect("the baseline", code == 0, out)
    for inputs, status, codes in cases:
        inputs = defaults | inputs
        (folder / inputs["sarif"]).unlink(missing_ok=True)
        code, out = steps(action, inputs, folder)
        expect(f"the action with {inputs}", code == status, f"{code}\n{out}")
        expect("no text became a command", not (folder / "owned").exists(), inputs)
        if codes is None:
            continue
        results = json.loads((folder / inputs["sarif"]).read_text())["runs"][0]["results"]
        found = [result["ruleId"] for result in results if result["level"] == "error"]
        expect("its SARIF", found == codes, results)
        annotations = [line for line in out.splitlines() if line.startswith("::error file=")]
        expect("its annotations", len(annotations) == len(codes), out)
    return len(cases)


def steps(action, inputs, folder):
    """Runs the steps of an action as a runner does. Steps that use other actions are left out."""
    outputs = folder / ".outputs"
    outputs.write_text("")
    for step in action["runs"]["steps"]:
        if "uses" in step:
            expect("a step", step["uses"].startswith("actions/cache@"), step)
            continue
        expect("a step", step["shell"] == "bash" and "${{" not in step["run"], step)
        # Every value is one expression.
        environment = {name: inputs[value[len("${{ inputs.") : -len(" }}")]] for name, value in step.get("env", {}).items()}
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
            script.write(step["run"])
            script.flush()
            code, out = run(
                "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script.name, cwd=folder,
                GITHUB_ACTION_PATH=ROOT, GITHUB_OUTPUT=outputs, **environment,
            )
        if code != 0:
            break
    expect("the key of the cache", len(outputs.read_text().strip()) == len("hash=") + 64, outputs.read_text())
    return code, out


def main():
    tried = []
    # Where `hooks/toolwright` looks for the program before it builds one, which would take minutes.
    installed = ROOT / "target/installed"
    (installed / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(BINARY, installed / "bin/toolwright")
    try:
        for part in [editors, hooks, action]:
            with tempfile.TemporaryDirectory() as folder:
                tried.append(part(pathlib.Path(folder)))
    finally:
        shutil.rmtree(installed)
    print("teams: {} configurations in editors, {} runs of hooks, {} of the action".format(*tried))


main()
