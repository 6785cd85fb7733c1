"""Writes the background texts to which `fit.rs` fits the weights, beside the texts of this folder.

    python3 background.py FILE

They are descriptions of operations and parameters in two published API references, which are not
kept here: dry prose about sending, deleting, keys and permissions, as honest servers have it. The
packages are pinned and the choice is made by hash, so that every machine gets the same texts.
"""

import gzip
import hashlib
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

PACKAGES = ["google-api-python-client==2.202.0", "botocore==1.44.3"]
# Descriptions of operations and of parameters to take from each package.
COUNTS = (2500, 4000)
# Characters of a text at most.
LENGTH = 1500


def google(names, read):
    """The methods of all discovery documents, each followed by its parameters."""
    def methods(resource):
        yield from resource.get("methods", {}).values()
        for inner in resource.get("resources", {}).values():
            yield from methods(inner)

    for name in names:
        if "/discovery_cache/documents/" in name and not name.endswith("/index.json"):
            for method in methods(json.loads(read(name))):
                yield 0, method.get("description", "")
                for parameter in method.get("parameters", {}).values():
                    yield 1, parameter.get("description", "")


def aws(names, read):
    """The operations of all services and the members of all structures, without their markup."""
    def plain(described):
        return html.unescape(re.sub(r"<[^>]+>", " ", described.get("documentation", "")))

    for name in names:
        if name.endswith(("service-2.json", "service-2.json.gz")):
            data = read(name)
            service = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
            for operation in service.get("operations", {}).values():
                yield 0, plain(operation)
            for shape in service.get("shapes", {}).values():
                for member in shape.get("members", {}).values():
                    yield 1, plain(member)


def main():
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
             "--no-deps", "--only-binary", ":all:", "--dest", folder, *PACKAGES],
            check=True,
        )
        for descriptions, wheel in ((google, "google*.whl"), (aws, "botocore*.whl")):
            with zipfile.ZipFile(next(pathlib.Path(folder).glob(wheel))) as package:
                found = (set(), set())
                for kind, text in descriptions(sorted(package.namelist()), package.read):
                    found[kind].add(re.sub(r"\s+", " ", text).strip()[:LENGTH])
            for kind, count in zip(found, COUNTS):
                kind.discard("")
                by_hash = sorted(kind, key=lambda text: hashlib.sha256(text.encode()).digest())
                texts += by_hash[:count]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(texts, ensure_ascii=False, indent=0) + "\n")


main()
