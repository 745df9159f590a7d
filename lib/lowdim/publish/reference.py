r"""The reference of the library: a page for each room, generated from the source.

:mod:`lowdim.publish.surface` says what is public; here it is written down for Sphinx, in the
directives of its Python domain, so that every name is a target and every type of ours a link.
Docstrings are reStructuredText with the sections of numpy's style, which napoleon reads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowdim.publish import rooms
from lowdim.publish.surface import Entry, Surface

LONGEST = 72
"""Characters of a constant's value that are worth showing, and of a signature on one line."""

VALUES = ("data", "type")  # kinds of entries that have a value and no call
FENCE = "`" * 9  # docstrings may hold shorter ones


def first_sentence(doc: str) -> str:
    r"""The first sentence of a docstring, on one line.

    Examples
    --------
    >>> first_sentence("Ratios, i.e. lhs / rhs, of\n``a. B`` and 0.5. And more.\n\nA proof.")
    'Ratios, i.e. lhs / rhs, of ``a. B`` and 0.5.'
    """
    paragraph = " ".join(re.split(r"\n\s*\n", doc.strip())[0].split())
    prose = _KEPT.sub(lambda code: "x" * len(code[0]), paragraph)
    for end in re.finditer(r"(?<!i\.e)(?<!e\.g)\.(?=\s+\S|$)", prose):
        return paragraph[: end.end()]
    return paragraph


def page(name: str, modules: Sequence[str], surface: Surface) -> str:
    """The reference of one room in MyST Markdown: an index, then module by module.

    Raises
    ------
    ValueError
        If a docstring refers to a name of ours that does not exist.

    Examples
    --------
    >>> offered = Surface()
    >>> text = page("ground", rooms.rooms(offered.found)["ground"], offered)
    >>> ".. py:function:: generator(seed: int, " in text
    True
    """
    opening = _opening(name)
    shown = [each for each in modules if rooms.public(each) and each != opening]
    if surface.entries(opening):
        shown.insert(0, opening)
    lines = _rst([f".. py:module:: {opening}", "", *_body(surface.doc(opening), opening, surface)])
    index = [line for module in shown for line in _index(module, opening, surface)]
    lines += _rst([".. container:: lowdim-index", "", *_indented(index)])
    for module in shown:
        body = []
        if module != opening:
            package, _, name = module.rpartition(".")
            body = [f".. py:module:: {module}", "", f"``from {package} import {name}``", ""]
            body += _body(surface.doc(module), module, surface)
        for entry in surface.entries(module):
            if _is_here(entry, surface):
                body += _entry(entry, surface)
        lines += [f"## {_short(module, opening)}", "", *_rst(body)]
    return "\n".join(lines)


def overview(by_room: Mapping[str, Sequence[str]], surface: Surface) -> str:
    """The lists of the opening page in MyST Markdown: the rooms, and every public name.

    Examples
    --------
    >>> offered = Surface()
    >>> text = overview({"ground": rooms.rooms(offered.found)["ground"]}, offered)
    >>> ":py:obj:`generator <lowdim.seeds.generator>`" in text
    True
    """
    lines, names = [], []
    for layer in reversed(rooms.layers(by_room)):
        for name in layer:
            public = [each for each in by_room[name] if rooms.public(each)]
            listed = [entry for each in public for entry in surface.entries(each)]
            names += [e for e in listed if e.kind not in VALUES and _is_here(e, surface)]
            opening = _opening(name)
            told = public[1:] if name == rooms.GROUND else [opening]
            said = [_mended(first_sentence(surface.doc(each)), each, surface) for each in told]
            sentences = " ".join(line for lines in said for line in lines)
            lines += [f":doc:`/book/api/{name}`", f"   {sentences}", ""]
    index = [".. container:: lowdim-index", "", *_indented(lines)]
    letters = [".. container:: lowdim-names", "", *_indented(_letters(names))]
    return "\n".join([*_rst(index), "## Every name", "", *_rst(letters)])


def write(root: Path) -> list[Path]:
    """Write ``book/_generated/api.md`` and one ``api-<room>.md`` for each room; return them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(Path(folder))][:2]
    ['api.md', 'api-publish.md']
    """
    surface = Surface()
    by_room = rooms.rooms(surface.found)
    folder = root / "book" / "_generated"
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"api": overview(by_room, surface)}
    contents |= {f"api-{name}": page(name, each, surface) for name, each in by_room.items()}
    for name, content in contents.items():
        (folder / f"{name}.md").write_text(content, encoding="utf-8")
    return [folder / f"{name}.md" for name in contents]


def mended(text: str) -> str:
    r"""A docstring with what reStructuredText or napoleon would misread made safe.

    A word between single backticks is code, a bar is a bar, code may touch a letter, and prose
    after a list of parameters is not one more of them. Examples and displayed formulas are left
    alone.

    Examples
    --------
    >>> print(mended("`seed` gives |x|, ``k``²"))
    ``seed`` gives \|x\|, ``k``\ ²
    >>> mended(">>> 1 | 2\n3") == ">>> 1 | 2\n3"
    True
    """
    out: list[str] = []
    prose: list[str] = []
    depth = None  # of the block that is left alone; an example ends at the next empty line
    for line in [*_ended(text.splitlines()), ""]:
        words, here = line.strip(), len(line) - len(line.lstrip())
        if not words or (depth is not None and 0 <= here <= depth):
            depth = depth if depth is not None and depth >= 0 and not words else None
        if words.startswith((">>> ", ".. math::")):
            depth = -1 if words.startswith(">>>") else here
        if depth is None and words:
            prose.append(line)
            continue
        # Code may begin on one line and end on the next, so a paragraph is mended as one.
        out += [*_escaped("\n".join(prose)).split("\n"), line] if prose else [line]
        prose = []
    return "\n".join(out[:-1])


_HEADING = re.compile(r"-{3,}$")
_KEPT = re.compile(r"``.+?``|:[\w:]+:`[^`]+`", re.DOTALL)
_ROLE = re.compile(r":(?:py:)?(func|meth|class|mod|data|attr|exc|obj):`~?([\w.]+)`")
_BEFORE, _AFTER = " \n-:/'\"<([{", " \n'\")]}>-/\\:.,;!?"


def _ended(lines: list[str]) -> list[str]:
    """Prose that follows a list of parameters, under a heading of its own."""
    out, within = [], False
    for number, line in enumerate(lines):
        heading = lines[number + 1 : number + 2] and _HEADING.match(lines[number + 1])
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if heading:
            within = line.strip() in ("Parameters", "Attributes", "Raises")
        elif within and line and line[0] not in " -" and after[:1] != " ":
            out += ["Notes", "-----"]
            within = False
        out.append(line)
    return out


def _escaped(text: str) -> str:
    pieces, end = [], 0
    for kept in _KEPT.finditer(text):
        # Markup that touches a letter is not seen as such without an escaped space between them.
        near = ((text[: kept.start()][-1:], _BEFORE), (text[kept.end() :][:1], _AFTER))
        before, after = (r"\ " if each and each not in allowed else "" for each, allowed in near)
        pieces += [_plain(text[end : kept.start()]), before, kept.group(), after]
        end = kept.end()
    return "".join([*pieces, _plain(text[end:])])


def _plain(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"``\1``", text).replace("|", r"\|")


def _mended(doc: str, home: str, surface: Surface, owner: str = "") -> list[str]:
    """The lines of a docstring of the module ``home``, its references in full.

    A word is looked up in the class ``owner`` where the module has none of that name.
    """

    def linked(match: re.Match[str]) -> str:
        role, word = match.groups()
        dotted = surface.resolve(word, home) or surface.resolve(f"{owner}.{word}", home)
        if dotted is None:
            raise ValueError(f"A docstring of {home} refers to {word}, which is not there.")
        address, shown = surface.address(dotted), word.removeprefix("lowdim.")
        return f":py:{role}:`{shown} <{address}>`" if address else f"``{shown}``"

    return [_ROLE.sub(linked, line) for line in mended(doc).split("\n")]


def _body(doc: str, home: str, surface: Surface, owner: str = "") -> list[str]:
    """A docstring in reStructuredText alone."""
    from sphinx.ext.napoleon import Config
    from sphinx.ext.napoleon.docstring import NumpyDocstring

    lines = _mended(doc, home, surface, owner)
    config: Any = Config(napoleon_use_rtype=False)
    # As of a function always: of a property it would take the words before a colon for its type.
    return [*NumpyDocstring(lines, config, what="function").lines(), ""]


def _entry(entry: Entry, surface: Surface, owner: str = "") -> list[str]:
    """The directive that sets one entry; it is named within the current module."""
    name = f"{owner}.{entry.name}" if owner else entry.name
    if entry.kind in VALUES:
        option = {"data": "value", "type": "canonical"}[entry.kind]
        short = len(entry.signature) <= LONGEST
        options = [f"   :{option}: {entry.signature}"] if short else []
        said = " ".join(_mended(entry.doc, entry.home, surface))
        body = (
            [said[:1].upper() + said[1:] + ("" if said.endswith(".") else "."), ""] if said else []
        )
        lines = []
        if entry.kind == "type":  # in a signature Sphinx looks for classes only, so it is one
            lines = [f".. py:class:: {name}", "   :no-typesetting:", ""]
            options.append("   :no-index:")
        options.append("   :no-contents-entry:")
        return [*lines, f".. py:{entry.kind}:: {name}", *options, "", *_indented(body)]
    signature, options = entry.signature, []
    shown = entry.name + re.sub(r"~[\w.]*\.", "", signature)  # types are shown short
    if len(shown) <= LONGEST:
        options.append("   :single-line-parameter-list:")
    if entry.kind == "property":
        options += [f"   :type: {signature.removeprefix(' -> ')}"] if signature else []
        signature = ""
    options += [
        f"   :{mark}:" for mark in ("staticmethod", "classmethod") if mark in entry.decorators
    ]
    body = _body(entry.doc, entry.home, surface, owner or entry.name)
    for member in entry.members:
        body += _entry(member, surface, entry.name)
    return [f".. py:{entry.kind}:: {name}{signature}", *options, "", *_indented(body)]


def _index(module: str, opening: str, surface: Surface) -> list[str]:
    """Every name of a module with its first sentence."""
    said = _mended(first_sentence(surface.doc(module)), module, surface)
    link = f":py:mod:`{_short(module, opening)} <{module}>`"
    lines = [".. container:: lowdim-index-module", "", f"   {link}: {' '.join(said)}", ""]
    elsewhere = []
    for entry in surface.entries(module):
        link = f":py:obj:`~{surface.address(f'{entry.home}.{entry.name}')}`"
        if not _is_here(entry, surface):
            elsewhere.append(link)
        elif entry.kind not in VALUES:
            sentence = " ".join(_mended(first_sentence(entry.doc), entry.home, surface))
            lines += [link, f"   {sentence}", ""]
    return [*lines, *([f"Also here: {', '.join(elsewhere)}.", ""] if elsewhere else [])]


def _letters(names: Sequence[Entry]) -> list[str]:
    """A paragraph of links for each letter; a name that comes twice has its module beside it."""
    times = Counter(entry.name for entry in names)
    by_letter: dict[str, list[str]] = {}
    for entry in sorted(names, key=lambda e: (e.name.lower(), e.module)):
        module = f" ({entry.module.rpartition('.')[2]})" if times[entry.name] > 1 else ""
        link = f":py:obj:`{entry.name}{module} <{entry.module}.{entry.name}>`"
        by_letter.setdefault(entry.name[0].upper(), []).append(link)
    # A line for each link: docutils refuses a line as long as all names with S.
    lines: list[str] = []
    for links in by_letter.values():
        lines += [*(f"{link} ·" for link in links[:-1]), links[-1], ""]
    return lines


def _is_here(entry: Entry, surface: Surface) -> bool:
    """Whether a name that a module offers has its entry there."""
    offered = f"{entry.module}.{entry.name}"
    return surface.address(f"{entry.home}.{entry.name}") == offered


def _opening(name: str) -> str:
    return "lowdim" if name == rooms.GROUND else f"lowdim.{name}"


def _short(module: str, opening: str) -> str:
    return module.removeprefix(f"{opening}.") if module != opening else module.rpartition(".")[2]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"   {line}" if line else line for line in lines]


def _rst(lines: Sequence[str]) -> list[str]:
    return [f"{FENCE}{{eval-rst}}", *lines, FENCE, ""]
