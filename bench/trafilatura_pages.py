"""Extracts the main content of every page in PEERS/pages with trafilatura, as Markdown.

Prints the seconds for all pages, the median of three rounds.
"""

import pathlib
import statistics
import sys
import time

import trafilatura

folder = pathlib.Path(sys.argv[1]) / "pages"
pages = [path.read_text() for path in sorted(folder.glob("*.html"))]
rounds = []
for _ in range(3):
    start = time.perf_counter()
    for page in pages:
        trafilatura.extract(page, output_format="markdown", include_links=True)
    rounds.append(time.perf_counter() - start)
print(statistics.median(rounds))
