"""Writes the background texts to which `fit.rs` fits the weights, beside the texts of this folder.

    python3 background.py FILE

They are descriptions of operations in two published API references, which are not kept here: dry
prose about sending, deleting, keys and permissions, as honest servers have it. The packages are
pinned and the choice is made by hash, so that every machine gets the same texts.
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
# Texts of each package, and characters of a text at most.
COUNT, LENGTH = 2500, 1500


def google(names, read):
    """The methods of all discovery documents."""
    def methods(resource):
        yield from resource.get("methods", {}).values()
        for inner in resource.get("resources", {}).values():
            yield from methods(inner)

    for name in names:
        if "/discovery_cache/documents/" in name and not name.endswith("/index.json"):
            for method in methods(json.loads(read(name))):
                yield method.get("description", "")


def aws(names, read):
    """The operations of all services, without their markup."""
    for name in names:
        if name.endswith(("service-2.json", "service-2.json.gz")):
            data = read(name)
            service = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
            for operation in service.get("operations", {}).values():
                plain = re.sub(r"<[^>]+>", " ", operation.get("documentation", ""))
                yield html.unescape(plain)


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
                found = descriptions(sorted(package.namelist()), package.read)
                found = {re.sub(r"\s+", " ", text).strip()[:LENGTH] for text in found} - {""}
            by_hash = sorted(found, key=lambda text: hashlib.sha256(text.encode()).digest())
            texts += by_hash[:COUNT]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(texts, ensure_ascii=False, indent=0) + "\n")


main()
