r"""The rooms of the library, and the picture of what they import from one another.

Everything is read from the source as text: no module is imported, so the picture cannot lag behind
the code and costs a fraction of a second. A *room* is a package of ``lowdim``; the modules that
stand beside the packages are together the room ``ground``. :data:`ORDER` says which rooms may
import which: only from a layer further down.

A drawing has the rooms as boxes, a row or more for each layer. Every room that is imported has one
line of its own, a *bus*: it collects the imports of that room, with their number where they leave a
box, and ends in an arrow. Lines run between the rows and in a margin at the right, never through a
box, whatever the imports are.
"""

from __future__ import annotations

import ast
import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import lowdim

GROUND = "ground"
ORDER = (
    ("publish",),
    ("course", "bridge"),
    ("instruments",),
    ("exercises",),
    ("preserve", "collapse", "embedded", "hashing"),
    ("nets",),
    ("evidence", "linalg", "data"),
    (GROUND,),
)
"""The layers of rooms, from the top down; a room imports from lower layers only."""

WIDE = (720, 4)
NARROW = (350, 2)
"""Width of a drawing and boxes in a row: for a laptop, and for a phone."""


@dataclass(frozen=True)
class Import:
    """One module's import of another; ``late`` if it happens in a call and not at the beginning."""

    source: str
    target: str
    late: bool = False


@dataclass(frozen=True)
class Edge:
    """What one room imports from another: how often, and whether only late."""

    source: str
    target: str
    count: int
    late: bool


def modules(package: Path | None = None) -> dict[str, Path]:
    """Every module of a package by its dotted name; of ``lowdim`` itself unless told otherwise.

    Examples
    --------
    >>> modules()["lowdim.evidence.ladder"].name, modules()["lowdim.data"].name
    ('ladder.py', '__init__.py')
    """
    package = Path(lowdim.__file__).parent if package is None else package
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def public(module: str) -> bool:
    """Whether no part of a dotted name begins with an underscore.

    Examples
    --------
    >>> public("lowdim.linalg.ranks"), public("lowdim.linalg._krylov")
    (True, False)
    """
    return not any(part.startswith("_") for part in module.split("."))


def room(module: str, packages: Iterable[str]) -> str:
    """The room of a module, given the names of all packages.

    Examples
    --------
    >>> [room(name, {"lowdim", "lowdim.data"}) for name in ("lowdim.data.unions", "lowdim.seeds")]
    ['data', 'ground']
    """
    head = ".".join(module.split(".")[:2])
    return head.partition(".")[2] if head in set(packages) and "." in head else GROUND


def rooms(found: Mapping[str, Path]) -> dict[str, list[str]]:
    """Modules by room, in the order of :data:`ORDER`; a room that it lacks comes first.

    Examples
    --------
    >>> list(rooms(modules()))[-1], rooms(modules())["linalg"][0]
    ('ground', 'lowdim.linalg')
    """
    packages = {name for name, path in found.items() if path.name == "__init__.py"}
    by_room: dict[str, list[str]] = {}
    for name in found:
        by_room.setdefault(room(name, packages), []).append(name)
    return {name: by_room[name] for layer in layers(by_room) for name in layer}


def layers(names: Iterable[str]) -> list[tuple[str, ...]]:
    """The layers of :data:`ORDER` that these rooms fill; rooms that it lacks are one more, on top.

    Examples
    --------
    >>> layers(["ground", "nets", "cellar"])
    [('cellar',), ('nets',), ('ground',)]
    """
    names = list(names)
    placed = {name for layer in ORDER for name in layer}
    new = tuple(sorted(set(names) - placed))
    filled = [new, *(tuple(n for n in layer if n in names) for layer in ORDER)]
    return [layer for layer in filled if layer]


@cache
def parsed(source: str) -> ast.Module:
    """Code as a tree that nobody changes: pictures and reference read the same files.

    Examples
    --------
    >>> parsed("x = 1") is parsed("x = 1")
    True
    """
    return ast.parse(source)


def imports(found: Mapping[str, Path]) -> list[Import]:
    """Every import of one of these modules by another, once for each pair.

    An import under ``if TYPE_CHECKING`` is for readers of types only, and is not counted.

    Examples
    --------
    >>> graph = imports(modules())
    >>> Import("lowdim.evidence.ladder", "lowdim.evidence.tables") in graph
    True
    """
    pairs: dict[tuple[str, str], bool] = {}
    for name, path in found.items():
        for node, late in _imports(parsed(path.read_text(encoding="utf-8"))):
            for target in _targets(node, name, path, found):
                if target != name:
                    pairs[name, target] = pairs.get((name, target), True) and late
    return [Import(*pair, late) for pair, late in sorted(pairs.items())]


def edges(found: Mapping[str, Path]) -> list[Edge]:
    """The imports between rooms, counted.

    Examples
    --------
    >>> {edge.target for edge in edges(modules()) if edge.source == "nets"} == {"linalg", "ground"}
    True
    """
    home = {name: each for each, names in rooms(found).items() for name in names}
    counts: Counter[tuple[str, str]] = Counter()
    early: set[tuple[str, str]] = set()
    for each in imports(found):
        pair = home[each.source], home[each.target]
        if pair[0] != pair[1]:
            counts[pair] += 1
            early |= set() if each.late else {pair}
    return [Edge(*pair, count, pair not in early) for pair, count in counts.items()]


def describe(graph: Sequence[Edge]) -> str:
    """The imports in words, for readers who do not see the drawing.

    Examples
    --------
    >>> describe([Edge("nets", "linalg", 1, False), Edge("nets", "ground", 6, False)])
    'Imports between rooms: nets from linalg 1, ground 6.'
    """
    by_source: dict[str, list[str]] = {}
    for edge in graph:
        late = " (late)" if edge.late else ""
        by_source.setdefault(edge.source, []).append(f"{edge.target} {edge.count}{late}")
    told = "; ".join(f"{name} from {', '.join(parts)}" for name, parts in by_source.items())
    return f"Imports between rooms: {told}."


def draw(
    by_room: Mapping[str, Sequence[str]],
    graph: Sequence[Edge],
    *,
    width: int,
    columns: int,
    link: str = "api/{room}.html#module-{module}",
) -> str:
    """The rooms and their imports as an SVG element, to stand within a page.

    Colours come from the page (classes ``rooms-...`` of ``book/_static/lowdim.css``), so that it
    follows the page's light and dark scheme. ``link`` is the address of a module, with ``{room}``
    and ``{module}`` in it.

    Raises
    ------
    ValueError
        If an edge names a room that is not drawn, or leads to its own layer or a higher one.

    Examples
    --------
    >>> picture = draw({"nets": ["lowdim.nets.training"], "ground": ["lowdim.seeds"]},
    ...     [Edge("nets", "ground", 2, False)], width=340, columns=2)
    >>> picture[:4], picture.count("<rect"), 'rooms-count">2<' in picture
    ('<svg', 2, True)
    """
    rows = [row for layer in layers(by_room) for row in _chunks(layer, columns)]
    at = {name: number for number, row in enumerate(rows) for name in row}
    for edge in graph:
        if edge.source not in at or edge.target not in at or at[edge.source] >= at[edge.target]:
            order = " over ".join(", ".join(layer) for layer in layers(by_room))
            raise ValueError(
                f"{edge.source} imports {edge.target}, but a room imports from lower layers only; "
                f"the order is {order}."
            )
    return _Drawing(by_room, graph, rows, at, width, link).svg()


def write(root: Path) -> Path:
    """Write the drawing, in both widths, as ``book/_generated/rooms.md``; return its path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder)).read_text().count("<svg")
    2
    """
    found = modules()
    by_room, graph = rooms(found), edges(found)
    figures = [
        f'<div class="rooms-{name}">{draw(by_room, graph, width=width, columns=columns)}</div>'
        for name, (width, columns) in (("wide", WIDE), ("narrow", NARROW))
    ]
    path = root / "book" / "_generated" / "rooms.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["```{raw} html", '<div class="rooms-figure">', *figures, "</div>", "```", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _imports(tree: ast.Module) -> Iterable[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Import statements, and whether they stand in a function."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, late = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, late
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            stack += [(child, late) for child in ast.iter_child_nodes(node)]


def _targets(
    node: ast.Import | ast.ImportFrom, name: str, path: Path, found: Mapping[str, Path]
) -> set[str]:
    """The modules among ``found`` that a statement of the module ``name`` imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & set(found)
    base = node.module or ""
    if node.level:
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        parents = package[: len(package) - node.level + 1]
        base = ".".join([*parents, base] if base else parents)
    # What is taken from a package is either a module of it or a name that its __init__ defines.
    wanted = {f"{base}.{alias.name}" for alias in node.names}
    return {each if each in found else base for each in wanted} & set(found)


def _chunks(layer: Sequence[str], columns: int) -> list[list[str]]:
    """A layer in rows of equal length, as far as that goes."""
    count = -(-len(layer) // columns)
    size = -(-len(layer) // count)
    return [list(layer[i : i + size]) for i in range(0, len(layer), size)]


# Sizes in pixels. A letter of the module names, which are monospaced, is 0.6 of its size wide; one
# of the titles is on the average no wider than BOLD.
TITLE, BOLD, NAME, LINE, LETTER = 15, 10.5, 12, 17, 7.3
PAD, GAP, LANE, TRACK = 9, 10, 13, 11
DROP, RISE = 22, 18


@dataclass
class _Drawing:
    by_room: Mapping[str, Sequence[str]]
    graph: Sequence[Edge]
    rows: Sequence[Sequence[str]]
    at: Mapping[str, int]
    width: int
    link: str
    out: list[str] = field(default_factory=list)

    def svg(self) -> str:
        targets = sorted({edge.target for edge in self.graph}, key=lambda t: self.at[t])
        self.lane = {target: number for number, target in enumerate(targets)}
        self.hue = {t: i for i, t in enumerate(n for n in self.by_room if n in self.lane)}
        far = [
            edge.target for edge in self.graph if self.at[edge.target] - self.at[edge.source] > 1
        ]
        trunks = [target for target in targets if target in far]
        margin = LANE * len(trunks) + 4 if trunks else 0
        self.trunk = {
            t: round(self.width - margin + LANE * (i + 0.7), 1) for i, t in enumerate(trunks)
        }
        height = self._place(self.width - margin - 1)
        for target in targets:
            self._bus(target)
        for name in self.at:
            self._box(name)
        label = html.escape(describe(self.graph), quote=True)
        head = (
            f'<svg class="lowdim-rooms" xmlns="http://www.w3.org/2000/svg" role="group" '
            f'aria-label="{label}" viewBox="0 0 {self.width} {height:g}" width="{self.width}">'
        )
        return "".join([head, *self.out, "</svg>"])

    def _place(self, inner: float) -> float:
        """Give every box, port and track its place; return the height of the whole."""
        self.box: dict[str, tuple[float, float, float, float]] = {}
        self.port: dict[tuple[str, str], float] = {}
        self.track: dict[tuple[int, str], float] = {}
        y = 1.0
        for number, row in enumerate(self.rows):
            widths = self._widths(row, inner - GAP * (len(row) - 1))
            high = max(self._height(name, wide) for name, wide in widths.items())
            x = 1.0 - GAP
            for name, wide in widths.items():
                x = round(x + GAP, 1)
                self.box[name] = (x, y, wide - 1, high)
                leaving = sorted(
                    (edge.target for edge in self.graph if edge.source == name),
                    key=self.lane.__getitem__,
                )
                for i, target in enumerate(leaving):
                    self.port[name, target] = round(x + wide * (i + 1) / (len(leaving) + 1), 1)
                x += wide
            y += high
            here = {target for (name, target) in self.port if name in row}
            below = {target for target in self.lane if self.at[target] == number + 1}
            if number + 1 < len(self.rows):
                tracks = sorted(here | below, key=lambda t: -self.lane[t])
                for i, target in enumerate(tracks):
                    self.track[number, target] = y + DROP + TRACK * i
                y += (DROP + TRACK * (len(tracks) - 1) if tracks else 0) + RISE
        return y + 1

    def _widths(self, row: Sequence[str], room: float) -> dict[str, float]:
        """Widths of the boxes of a row: what their longest names need, the rest by how many."""
        words = {name: [_short(each) for each in self._names(name)[0]] for name in row}
        need = {
            name: 2 * PAD + max(LETTER * (max(map(len, each), default=0) + 1), BOLD * len(name))
            for name, each in words.items()
        }
        spare = (room - sum(need.values())) / sum(len(each) or 1 for each in words.values())
        if spare < 0:  # names are cut to their columns, titles are not
            least = {name: 2 * PAD + BOLD * len(name) for name in row}
            share = (sum(need.values()) - room) / max(1, sum(need[n] - least[n] for n in row))
            return {n: round(need[n] - share * (need[n] - least[n]), 1) for n in row}
        return {n: round(need[n] + spare * (len(words[n]) or 1), 1) for n in row}

    def _names(self, name: str) -> tuple[list[str], int]:
        shown = [each for each in self.by_room[name] if public(each) and each.count(".") > 1]
        if name == GROUND:
            shown = [each for each in self.by_room[name] if public(each) and "." in each]
        return shown, len([each for each in self.by_room[name] if not public(each)])

    def _grid(self, name: str, wide: float) -> tuple[int, float]:
        """Columns of module names in a box of this width, and how wide they are."""
        shown, hidden = self._names(name)
        words = [_short(each) for each in shown] + ([f"{hidden} private"] if hidden else [])
        letters = max(map(len, words), default=1)
        columns = max(1, int((wide - 2 * PAD) // (LETTER * (letters + 1))))
        return columns, (wide - 2 * PAD) / columns

    def _height(self, name: str, wide: float) -> float:
        shown, hidden = self._names(name)
        lines = -(-(len(shown) + bool(hidden)) // self._grid(name, wide)[0])
        return 2 * PAD + TITLE + 4 + LINE * lines

    def _box(self, name: str) -> None:
        x, y, wide, high = self.box[name]
        self.out.append(f'<g class="rooms-room"><rect x="{x:g}" y="{y:g}" width="{wide:g}" ')
        self.out.append(f'height="{high:g}" rx="6"/>')
        title = (name, "rooms-title", x + PAD, y + PAD + TITLE - 3, None)
        words: list[tuple[str, str, float, float, str | None]] = [title]
        shown, hidden = self._names(name)
        columns, step = self._grid(name, wide)
        for i, module in enumerate([*shown, *([None] if hidden else [])]):
            left = round(x + PAD + step * (i % columns), 1)
            base = y + PAD + TITLE + 4 + LINE * (i // columns) + NAME
            if module is None:
                words.append((f"{hidden} private", "rooms-private", left, base, None))
            else:
                address = self.link.format(room=name, module=module)
                words.append((_fitted(_short(module), step), "rooms-module", left, base, address))
        for word, style, left, base, link in words:
            text = f'<text x="{left:g}" y="{base:g}" class="{style}">{html.escape(word)}</text>'
            self.out.append(f'<a href="{html.escape(link)}">{text}</a>' if link else text)
        self.out.append("</g>")

    def _entry(self, target: str) -> float:
        """Where along the top of its box a line arrives: straight down from a box above if it can,
        and clear of the other lines that leave boxes there."""
        left, _, wide, _ = self.box[target]
        last = self.at[target] - 1
        above = {key: port for key, port in self.port.items() if self.at[key[0]] == last}
        own = sorted(port for (_, other), port in above.items() if other == target)
        places = [left + PAD + 6 + 4 * i for i in range(int((wide - 2 * PAD) // 4) - 1)]
        straight = [port for port in own if left + PAD <= port <= left + wide - PAD]
        clear = [
            x
            for x in straight + places
            if all(abs(x - port) >= 4 for (_, other), port in above.items() if other != target)
        ]
        return round((clear or places)[0], 1)

    def _bus(self, target: str) -> None:
        """The line that collects the imports of one room and ends in an arrow at its top."""
        arriving = [edge for edge in self.graph if edge.target == target]
        last = self.at[target] - 1
        used = sorted({self.at[edge.source] for edge in arriving} | {last})
        top, entry = self.box[target][1], self._entry(target)
        paths: list[str] = []
        dashes: list[str] = []
        dots: list[tuple[float, float]] = []
        for row in used:
            y = self.track[row, target]
            ports = [self.port[e.source, target] for e in arriving if self.at[e.source] == row]
            ends = ports + ([entry] if row == last else [])
            if used[0] < last:
                ends.append(self.trunk[target])
            low, high = min(ends), max(ends)
            if low < high:
                paths.append(f"M{low:g} {y:g}H{high:g}")
            through = {entry} & set(ports) if row == last else set()  # straight on, past the track
            joins = {x for x in ports + [entry] * (row == last) if low < x < high} | through
            dots += [(x, y) for x in sorted(joins) if low < high]
        if used[0] < last:
            trunk = self.trunk[target]
            high, low = self.track[used[0], target], self.track[last, target]
            paths.append(f"M{trunk:g} {high:g}V{low:g}")
            dots += [(trunk, self.track[row, target]) for row in used[1:-1]]
        paths.append(f"M{entry:g} {self.track[last, target]:g}V{top - 7:g}")
        late = all(edge.late for edge in arriving)
        counts = []
        for edge in arriving:
            port, row = self.port[edge.source, target], self.at[edge.source]
            start = self.box[edge.source][1] + self.box[edge.source][3]
            line = f"M{port:g} {start:g}V{self.track[row, target]:g}"
            (dashes if edge.late else paths).append(line)
            place = f'x="{port + 4:g}" y="{start + 14:g}"'
            counts.append(f'<text {place} class="rooms-count">{edge.count}</text>')
        if late:
            paths, dashes = [], dashes + paths
        self.out.append(f'<g class="rooms-bus rooms-bus-{self.hue[target] % 5}">')
        for style, lines in (("rooms-line", paths), ("rooms-line rooms-late", dashes)):
            if lines:
                self.out.append(f'<path class="{style}" d="{"".join(lines)}"/>')
        self.out += [f'<circle cx="{cx:g}" cy="{cy:g}" r="2.6"/>' for cx, cy in dots]
        self.out.append(f'<path d="M{entry - 4:g} {top - 8:g}h8l-4 8z"/>')
        self.out += [*counts, "</g>"]


def _fitted(word: str, wide: float) -> str:
    """A name cut to a column of this width; its link and the reference have the whole one."""
    room = int(wide // LETTER)
    return word if len(word) <= room else f"{word[: room - 1]}…"


def _short(module: str) -> str:
    """A module's name within its room."""
    parts = module.split(".")
    return ".".join(parts[2:] if len(parts) > 2 else parts[1:])
