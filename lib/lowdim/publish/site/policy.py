"""A Content-Security-Policy under which the whole book works, for whoever puts it on a server.

Pages need nothing from elsewhere, so a server may forbid it. What a page runs besides the book's
own script files are a few lines inside the page, the theme's and ours, and MathJax, which a file
holds packed; the policy names each of them by its hash, so that no other script can run, wherever
it comes from. ``policy.txt`` beside the pages has the value of the header. (A style sheet inside a
page is allowed: MathJax writes its own.)
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from lowdim.publish.site.weight import UNPACKED

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FILE = "policy.txt"
RUN = {"", "text/javascript", "application/javascript", "module"}  # types that browsers execute


def setup(app: Sphinx) -> None:
    """Write the policy when all pages are there."""
    app.connect("build-finished", _write, priority=990)  # when scripts are put together


class _Scripts(HTMLParser):
    """What a page would run: scripts in it, and what buttons do."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: set[str] = set()
        self.handlers = False
        self.inside: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name, value in given.items():
            if name.startswith("on") and value:
                self.found.add(value)
                self.handlers = True
        if tag == "script" and "src" not in given and (given.get("type") or "").lower() in RUN:
            self.inside = []

    def handle_data(self, data: str) -> None:
        if self.inside is not None:
            self.inside.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self.inside is not None:
            self.found.add("".join(self.inside))
            self.inside = None


def scripts(page: str) -> tuple[set[str], bool]:
    """The scripts inside a page, and whether some are attributes of elements.

    Examples
    --------
    >>> inside, handlers = scripts('<script>a()</script><script src="b"></script><b onclick="c()">')
    >>> sorted(inside), handlers
    (['a()', 'c()'], True)
    >>> scripts('<script type="application/json">{"a": 1}</script>')
    (set(), False)
    """
    reader = _Scripts()
    reader.feed(page)
    return reader.found, reader.handlers


def policy(pages: list[str], unpacked: Iterable[str] = ()) -> str:
    """The value of the header for these pages, which may also run what a script of theirs unpacks.

    Examples
    --------
    >>> policy(["<script>a()</script>"]).split("; ")[1]
    "script-src 'self' 'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='"
    """
    found: set[str] = set(unpacked)
    handlers = False
    for page in pages:
        here, some = scripts(page)
        found |= here
        handlers |= some
    allowed = ["'self'"] + ["'unsafe-hashes'"] * handlers
    allowed += sorted(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in found
    )
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(allowed)}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        ]
    )


def _write(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    pages = [
        path.read_text(encoding="utf-8")
        for path in sorted(Path(app.outdir).rglob("*.html"))
        if "_static" not in path.relative_to(app.outdir).parts
    ]
    unpacked = [
        path.read_text(encoding="utf-8") for path in Path(app.outdir, "_static").rglob(UNPACKED)
    ]
    (Path(app.outdir) / FILE).write_text(policy(pages, unpacked) + "\n", encoding="utf-8")
