"""Converts every page in PEERS/pages with markdownify.

Prints the seconds for all pages, the median of three rounds.
"""

import pathlib
import statistics
import sys
import time

from markdownify import markdownify

folder = pathlib.Path(sys.argv[1]) / "pages"
pages = [path.read_text() for path in sorted(folder.glob("*.html"))]
rounds = []
for _ in range(3):
    start = time.perf_counter()
    for page in pages:
        markdownify(page, heading_style="ATX", strip=["script", "style", "nav"])
    rounds.append(time.perf_counter() - start)
print(statistics.median(rounds))
