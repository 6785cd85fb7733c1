"""Pages of Debian's documentation packages as Markdown: no heading, list item, table, code block or
word of the page is lost. The pages are parsed by html5lib and the Markdown by markdown-it, so that
no part of Toolwright checks itself."""

import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import html5lib
from markdown_it import MarkdownIt

BINARY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
# Pages of one package, evenly spread.
PER_PACKAGE = int(os.environ.get("E2E_PAGES", "60"))
HIDDEN = {"{http://www.w3.org/2000/svg}svg", "head", "nav", "script", "style", "template", "noscript", "noembed", "noframes", "datalist", "svg", "base", "title", "meta", "link"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
# Signs that a table without headers is used for layout.
ARRANGED = HEADINGS | {"table", "pre", "ul", "ol", "menu", "dir", "blockquote", "hr"}
# Elements that make a summary longer than one line.
LEADING = HEADINGS | {"a", "img", "iframe", "frame", "video", "audio", "embed", "object"}
LAYOUT = {"presentation", "none"}
RENDER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def tag(node):
    return node.tag if isinstance(node.tag, str) else None


def style_hides(node):
    rules = [part.split(":", 1) for part in node.get("style", "").lower().split(";") if ":" in part]
    return any(name.strip() == "display" and value.strip() == "none" for name, value in rules)


def is_hidden(node):
    shown = node.get("hidden", "until-found") == "until-found"
    return tag(node) is None or tag(node) in HIDDEN or not shown or style_hides(node)


def words(text):
    return "".join(text.split())


def letters(text):
    return "".join(c for c in text if c.isalnum())


def parsed(text):
    return html5lib.parse(text, namespaceHTMLElements=False)


def plain(html):
    return "".join(parsed(html).itertext())


def text_of(node):
    """The text below a node that a reader sees."""
    if is_hidden(node):
        return ""
    parts = [node.text or ""]
    for child in node:
        parts.append("\n" if tag(child) == "br" else text_of(child))
        parts.append(child.tail or "")
    return "".join(parts)


def own_rows(table):
    for child in table:
        if tag(child) == "tr":
            yield child
        elif tag(child) in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if tag(row) == "tr")


def is_data(table):
    rows = [[cell for cell in row if tag(cell) in ("td", "th")] for row in own_rows(table)]
    if not any(rows) or table.get("role") in LAYOUT:
        return False
    marks = {tag(cell) for row in rows for cell in row} | {tag(child) for child in table}
    if marks & {"th", "thead", "caption"}:
        return True
    width = max(sum(int(cell.get("colspan", "1") or 1) for cell in row) for row in rows)
    inner = any(tag(node) in ARRANGED for node in table.iter() if node is not table)
    return width > 1 and len(rows) > 1 and not inner


class Counts:
    """The headings, items, tables, code blocks and words of a page, in order."""

    def __init__(self):
        self.headings, self.code, self.tables, self.items = [], [], 0, 0

    def of_page(self, node, flat=False):
        """Counts below a node; in cells and headings, where all is on one line, nothing but text
        counts."""
        if is_hidden(node):
            return
        name = tag(node)
        if name in HEADINGS and not flat:
            self.headings.append((int(name[1]), letters(text_of(node))))
            return
        if name in ("pre", "listing") and not flat:
            self.code.append(words(text_of(node)))
            return
        if name == "table" and not flat and is_data(node):
            self.tables += 1
            flat = True
        if name == "summary" and not any(tag(inner) in LEADING for inner in node.iter()):
            flat = True
        if name in ("li", "dd") and not flat:
            self.items += 1
        for child in node:
            self.of_page(child, flat)

    def of_markdown(self, source):
        tokens = RENDER.parse(source)
        for token, after in zip(tokens, tokens[1:] + tokens[:1]):
            if token.type == "heading_open":
                self.headings.append((int(token.tag[1]), letters(plain(RENDER.renderInline(after.content)))))
            elif token.type == "fence":
                self.code.append(words(token.content))
            elif token.type == "table_open":
                self.tables += 1
            elif token.type == "list_item_open":
                self.items += 1


def examine(path):
    """The differences of a page from its Markdown, and its contents."""
    run = subprocess.run([BINARY, "md", str(path)], capture_output=True, timeout=60)
    if run.returncode != 0 or run.stderr:
        return [f"exit {run.returncode}: {run.stderr.decode(errors='replace')}"], Counts()
    markdown = run.stdout.decode()
    page = path.read_bytes()
    try:
        # html5lib does not detect UTF-8 without a declaration.
        page = page.decode()
    except UnicodeDecodeError:
        pass
    body = parsed(page).find("body")
    there, ours = Counts(), Counts()
    there.of_page(body)
    ours.of_markdown(markdown)
    problems = [
        f"{what}: {wanted} / {found}"
        for what, wanted, found in [
            ("headings", there.headings, ours.headings),
            ("code", there.code, ours.code),
            ("tables", there.tables, ours.tables),
            ("list items", there.items, ours.items),
        ]
        if wanted != found
    ]
    lost = collections.Counter(letters(text_of(body))) - collections.Counter(letters(plain(RENDER.render(markdown))))
    if lost:
        problems.append(f"letters: {dict(lost)}")
    return problems, there


def main():
    failed = 0
    total = collections.Counter()
    for package in sorted(FOLDER.iterdir()):
        pages = sorted(path for path in package.rglob("*.html") if path.is_file() and path.stat().st_size < 1_000_000)
        step = max(1, len(pages) // PER_PACKAGE)
        with concurrent.futures.ProcessPoolExecutor() as pool:
            chosen = pages[::step][:PER_PACKAGE]
            for path, (problems, counts) in zip(chosen, pool.map(examine, chosen)):
                total.update(pages=1, headings=len(counts.headings), items=counts.items, tables=counts.tables, code=len(counts.code))
                for problem in problems:
                    failed += 1
                    print(f"{path}: {problem[:2000]}")
    found = ", ".join(f"{count} {what}" for what, count in total.items())
    print(f"pages of Debian's documentation as Markdown: {found}; {failed} lost something")
    enough = all(total[what] > 0 for what in ("headings", "items", "tables", "code")) and total["pages"] > 100
    sys.exit(0 if enough and not failed else 1)


if __name__ == "__main__":
    main()
