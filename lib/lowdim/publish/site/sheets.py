"""Style sheets put together, without what no page of the book can use.

The theme's sheets are written for all that any book may have. A rule is left out if it asks for a
class or a name that stands on no page and in no script: nothing on a page can ever meet it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import Path

_GLYPHS = re.compile(r'(?:\.fa-[a-z0-9-]+:{1,2}before,?)+\{content:"[^"]*"\}')
_FACES = re.compile(r"@font-face\{[^}]*Font Awesome[^}]*\}")
_IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"')]+)["']?\)?\s*;""")
_URL = re.compile(r"""url\(\s*(["']?)(?!data:|#|/|[a-z]+:)([^"')]+)\1\s*\)""")
_MARK = re.compile(r'@charset "[^"]*";|/\*# sourceMappingURL=.*?\*/')
_TOKEN = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|url\([^"')]*\)|[{};]""", re.DOTALL
)
_INNER = re.compile(r":(?:not|is|where|has)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\]]*\]")
_NAME = re.compile(r"[.#](-?[A-Za-z_][\w-]*)")
_NESTED = ("@media", "@supports", "@container", "@layer")


def read(static: Path, name: str) -> str:
    """A style sheet as it may stand at the top of ``static``, with what it imports.

    The glyphs of the theme's icons are left out, and the fonts that draw them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.css").write_text('@import "b.css"; p { color: red }')
    ...     _ = Path(folder, "b.css").write_text("q { color: blue }")
    ...     read(Path(folder), "a.css")
    'q { color: blue } p { color: red }'
    """
    text = _MARK.sub("", (static / name).read_text(encoding="utf-8"))
    here = posixpath.dirname(name)

    def moved(match: re.Match[str]) -> str:
        return f'url("{posixpath.normpath(posixpath.join(here, match[2]))}")'

    pieces, last = [], 0
    for match in _IMPORT.finditer(text):
        pieces.append(_URL.sub(moved, text[last : match.start()]))
        pieces.append(read(static, posixpath.normpath(posixpath.join(here, match[1]))))
        last = match.end()
    pieces.append(_URL.sub(moved, text[last:]))
    return _FACES.sub("", _GLYPHS.sub("", "".join(pieces)))


def names(page: str) -> set[str]:
    """The classes and ids of a page.

    Examples
    --------
    >>> sorted(names('<p class="a-b c" id="d">e</p>'))
    ['a-b', 'c', 'd']
    """
    return set(" ".join(re.findall(r'\s(?:class|id)="([^"]*)"', page)).split())


def words(script: str) -> set[str]:
    """All that may be the name of a class in a script.

    Examples
    --------
    >>> sorted(words('place.classList.add("a-b")'))
    ['a-b', 'add', 'classList', 'place']
    """
    return set(re.findall(r"-?[A-Za-z_][\w-]*", script))


def pruned(css: str, known: Collection[str]) -> str:
    """The rules that some element with the ``known`` names can meet.

    Examples
    --------
    >>> pruned(".a,.b .c{x:1}@media print{.b{y:2}.a:not(.z){y:3}}", {"a"})
    '.a{x:1}@media print{.a:not(.z){y:3}}'
    """
    made = []
    for written, body in _rules(css):
        made += re.findall(r"/\*!.*?\*/", written, re.DOTALL)  # licences
        head = re.sub(r"/\*.*?\*/", "", written, flags=re.DOTALL).strip()
        if body is None:
            made.append(f"{head};")
        elif head.startswith(_NESTED):
            inner = pruned(body, known)
            made += [f"{head}{{{inner}}}"] if inner else []
        elif head.startswith("@"):
            made.append(f"{head}{{{body}}}")
        elif kept := [one for one in _selectors(head) if _may_match(one, known)]:
            made.append(f"{','.join(kept)}{{{body}}}")
    return "".join(made)


def _rules(css: str) -> Iterator[tuple[str, str | None]]:
    """What stands before each block, and the block; no block for a statement that has none."""
    depth = start = opened = 0
    head = ""
    for token in _TOKEN.finditer(css):
        if token[0] == "{":
            depth += 1
            if depth == 1:
                head, opened = css[start : token.start()], token.end()
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                yield head, css[opened : token.start()].strip()
                start = token.end()
        elif token[0] == ";" and depth == 0:
            yield css[start : token.start()], None
            start = token.end()


def _selectors(head: str) -> list[str]:
    """The parts of a list, which commas inside brackets do not divide.

    Examples
    --------
    >>> _selectors("a:is(b, c) > d, e")
    ['a:is(b, c) > d', 'e']
    """
    found, depth, start = [], 0, 0
    for at, sign in enumerate(head):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            found.append(head[start:at].strip())
            start = at + 1
    return [*found, head[start:].strip()]


def _may_match(selector: str, known: Collection[str]) -> bool:
    if "\\" in selector:  # a name with signs that are escaped
        return True
    return all(name in known for name in _NAME.findall(_INNER.sub("", selector)))
