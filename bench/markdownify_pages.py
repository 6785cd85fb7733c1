"""Converts every page with markdownify; prints the seconds for all, the median of several rounds."""

import pathlib
import statistics
import sys
import time

from markdownify import markdownify

pages = [path.read_text() for path in sorted((pathlib.Path(sys.argv[1]) / "pages").glob("*.html"))]
rounds = []
for _ in range(3):
    start = time.perf_counter()
    for page in pages:
        markdownify(page, heading_style="ATX", strip=["script", "style", "nav"])
    rounds.append(time.perf_counter() - start)
print(statistics.median(rounds))
