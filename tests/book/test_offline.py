"""No page of the built book loads anything from another host, and nothing local is missing."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.book

LOADS = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "track": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "form": ("action",),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
IN_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class _Page(HTMLParser):
    """What a page loads, where its links lead, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.in_style = tag == "style"
        self.places |= {given[name] for name in ("id", "name") if name in given}
        for name in LOADS.get(tag, ()):
            value = given.get(name, "")
            several = name == "srcset"
            self.loads += [v.split()[0] for v in value.split(",")] if several and value else [value]
        if tag == "a":
            self.links.append(given.get("href", ""))
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.links.append(given["content"].partition("url=")[2])
        self.loads += _in_css(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.loads += _in_css(data)

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False


def _in_css(text: str) -> list[str]:
    return [one or other for one, other in IN_CSS.findall(text)]


@cache
def _read(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def _outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def _target(html: Path, source: Path, address: str) -> Path:
    path = unquote(urlsplit(address).path)
    found = (html / path.lstrip("/")) if path.startswith("/") else (source.parent / path)
    return found / "index.html" if found.is_dir() else found


def test_a_page_loads_nothing_from_elsewhere(html: Path, page: str) -> None:
    source = html / page
    loads = [a for a in _read(source).loads if a]
    assert [a for a in loads if _outside(a)] == []
    local = [a for a in loads if not a.startswith(("data:", "#"))]
    assert local, "a page without a style sheet was not read well"
    assert [a for a in local if not _target(html, source, a).is_file()] == []


def test_the_links_of_a_page_lead_somewhere(html: Path, page: str) -> None:
    source = html / page
    broken = []
    for address in _read(source).links:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or address in ("", "#"):
            continue  # a citation may point outside; nothing is loaded from there
        target = _target(html, source, address) if parts.path else source
        if not target.is_file():
            broken.append(address)
        elif parts.fragment and target.suffix == ".html":
            if unquote(parts.fragment) not in _read(target).places:
                broken.append(address)
    assert broken == []


def test_the_first_page_is_where_people_look_for_it(html: Path) -> None:
    source = html / "index.html"
    targets = [_target(html, source, a) for a in _read(source).links if a and not _outside(a)]
    assert targets and all(target.is_file() for target in targets)


def test_style_sheets_load_nothing_from_elsewhere(html: Path) -> None:
    sheets = sorted(html.rglob("*.css"))
    assert any(sheet.name == "lowdim.css" for sheet in sheets)
    wrong = []
    for sheet in sheets:
        for address in _in_css(sheet.read_text(encoding="utf-8")):
            if address.startswith(("data:", "#")):
                continue
            if _outside(address) or not _target(html, sheet, address).is_file():
                wrong.append(f"{sheet.relative_to(html)}: {address}")
    assert wrong == []


def test_drawings_load_nothing_from_elsewhere(html: Path) -> None:
    wrong = []
    for drawing in sorted(html.glob("_images/*.svg")):
        text = drawing.read_text(encoding="utf-8")
        found = re.findall(r"\b(?:xlink:)?href\s*=\s*['\"]([^'\"]+)", text) + _in_css(text)
        wrong += [f"{drawing.name}: {address}" for address in found if _outside(address)]
    assert wrong == []


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://x.test/a.js"></script>',
        '<link rel="stylesheet" href="//x.test/a.css">',
        '<img srcset="a.png 1x, https://x.test/b.png 2x">',
        '<p style="background: url(https://x.test/b.png)">',
        "<style>@import 'https://x.test/a.css';</style>",
        '<iframe src="http://x.test/"></iframe>',
    ],
)
def test_the_reader_of_pages_sees_what_is_loaded(tag: str) -> None:
    assert any(_outside(address) for address in _Page(tag).loads)
