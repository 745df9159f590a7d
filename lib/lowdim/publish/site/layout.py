"""Where the nodes of a directed graph without circles go, in a drawing of a given width.

Every connected piece is drawn by itself, from the top down: a node stands below all that it uses.
Its height is the length of the longest way to it. A line that is too long is broken in two. An edge
that passes a line has a place of its own there, which it shares with the other edges that begin
where it begins, so no edge runs through a node. Within a line nodes are ordered by the barycentre
of their neighbours. Pieces are then put side by side.

Everything follows from the order in which nodes and edges are given: no random number is used.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import fmean

Edge = tuple[str, str]
Point = tuple[float, float]
Slot = Hashable  # a node's name, or where edges pass a line: (name of their beginning, line)

HEIGHT = 24.0  # of a node
ACROSS = 12.0  # between two nodes of a line
DOWN = 34.0  # between two lines
PASSING = 7.0  # what an edge takes of a line that it passes
APART = 26.0  # between two pieces
SWEEPS = 12


@dataclass(frozen=True)
class Plan:
    """A drawing: the left upper corner of each node, the points of each edge, and the size."""

    corners: Mapping[str, Point]
    routes: Mapping[Edge, Sequence[Point]]
    width: float
    height: float

    def order(self) -> list[str]:
        """The nodes as they are read: line by line, and from the left in a line."""
        return sorted(self.corners, key=lambda name: (self.corners[name][1], self.corners[name][0]))


def plan(widths: Mapping[str, float], edges: Sequence[Edge], room: float) -> Plan:
    """Lay out the nodes, given with their widths in the order that they should keep.

    An edge goes from what is used to what uses it. ``room`` is the width to keep to; a drawing is
    wider only if some line cannot be broken.

    Examples
    --------
    >>> made = plan({"lemma": 60, "theorem": 60}, [("lemma", "theorem")], room=200)
    >>> made.corners["lemma"], made.corners["theorem"], made.height
    ((0.0, 0.0), (0.0, 58.0), 82.0)
    """
    pieces = [_piece(part, widths, edges, room) for part in components(list(widths), edges)]
    corners: dict[str, Point] = {}
    routes: dict[Edge, Sequence[Point]] = {}
    left = top = tall = wide = 0.0
    # Tall ones first, and those of one height in their order: a shelf is filled evenly.
    for piece in sorted(pieces, key=lambda piece: -piece.height):
        if left and left + piece.width > room:
            left, top, tall = 0.0, top + tall + APART, 0.0
        corners |= {name: (x + left, y + top) for name, (x, y) in piece.corners.items()}
        routes |= {e: [(x + left, y + top) for x, y in way] for e, way in piece.routes.items()}
        wide, tall = max(wide, left + piece.width), max(tall, piece.height)
        left += piece.width + APART
    return Plan(corners, routes, wide, top + tall)


def components(names: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """The connected pieces, each in the order of ``names``.

    Examples
    --------
    >>> components(["a", "b", "c"], [("a", "c")])
    [['a', 'c'], ['b']]
    """
    near: dict[str, list[str]] = {name: [] for name in names}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    seen: set[str] = set()
    found = []
    for first in names:
        if first in seen:
            continue
        piece, todo = {first}, [first]
        while todo:
            new = set(near[todo.pop()]) - piece
            piece |= new
            todo += sorted(new)
        seen |= piece
        found.append([name for name in names if name in piece])
    return found


def ranks(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """How many steps below the top each node is: the longest way to it.

    What uses nothing is moved down to just above the first that uses it.

    Examples
    --------
    >>> ranks(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("d", "c")])
    {'a': 0, 'b': 1, 'c': 2, 'd': 1}
    """
    used: dict[str, list[str]] = {name: [] for name in names}
    users: dict[str, list[str]] = {name: [] for name in names}
    for a, b in edges:
        used[b].append(a)
        users[a].append(b)
    rank: dict[str, int] = {}
    for name in TopologicalSorter(used).static_order():
        rank[name] = max((rank[a] + 1 for a in used[name]), default=0)
    for name in names:
        if not used[name] and users[name]:
            rank[name] = min(rank[b] for b in users[name]) - 1
    return {name: rank[name] for name in names}


def _piece(
    names: Sequence[str], widths: Mapping[str, float], edges: Sequence[Edge], room: float
) -> Plan:
    own = [edge for edge in edges if edge[0] in set(names)]
    lines = _lines(names, widths, own, room)
    at = {name: i for i, line in enumerate(lines) for name in line}
    full, hops = _with_passages(lines, at, own)
    size = {slot: widths.get(slot, PASSING) for line in full for slot in line}  # type: ignore[call-overload]  # a passage is no name
    _untangle(full, hops)
    centre = _spread(full, hops, size, room)
    low = min(centre[slot] - size[slot] / 2 for slot in centre)
    high = max(centre[slot] + size[slot] / 2 for slot in centre)

    def height(line: int) -> float:
        return line * (HEIGHT + DOWN)

    routes = {}
    for a, b in own:
        way = [(centre[a] - low, height(at[a]) + HEIGHT)]
        for line in range(at[a] + 1, at[b]):
            x = centre[a, line] - low
            way += [(x, height(line)), (x, height(line) + HEIGHT)]
        routes[a, b] = [*way, (centre[b] - low, height(at[b]))]
    corners = {name: (centre[name] - widths[name] / 2 - low, height(at[name])) for name in names}
    return Plan(corners, routes, high - low, height(len(lines) - 1) + HEIGHT)


def _lines(
    names: Sequence[str], widths: Mapping[str, float], edges: Sequence[Edge], room: float
) -> list[list[str]]:
    """The nodes of each rank, in several lines where one has no room for them."""
    rank = ranks(names, edges)
    lines: list[list[str]] = []
    for step in range(min(rank.values()), max(rank.values()) + 1):
        here = [name for name in names if rank[name] == step]
        # Edges that begin above and end below pass all lines of this rank.
        passing = {a for a, b in edges if rank[a] < step < rank[b]}
        free = room - PASSING * len(passing)
        count = 1
        while count < len(here) and any(
            sum(widths[name] + ACROSS for name in line) - ACROSS > free
            for line in _broken(here, count)
        ):
            count += 1
        lines += _broken(here, count)
    return lines


def _broken(names: Sequence[str], count: int) -> list[list[str]]:
    """In ``count`` runs of nearly equal length."""
    ends = [round(i * len(names) / count) for i in range(count + 1)]
    return [list(names[a:b]) for a, b in pairwise(ends) if a < b]


def _with_passages(
    lines: Sequence[Sequence[str]], at: Mapping[str, int], edges: Sequence[Edge]
) -> tuple[list[list[Slot]], list[tuple[Slot, Slot]]]:
    """Lines with the places where edges pass them, and the steps of edges from line to line."""
    full: list[list[Slot]] = [list(line) for line in lines]
    hops: dict[tuple[Slot, Slot], None] = {}
    for a, b in edges:
        last: Slot = a
        for line in range(at[a] + 1, at[b]):
            passage = (a, line)
            if passage not in full[line]:
                full[line].append(passage)
            hops[last, passage] = None
            last = passage
        hops[last, b] = None
    return full, list(hops)


def _untangle(lines: list[list[Slot]], hops: Sequence[tuple[Slot, Slot]]) -> None:
    """Order lines by the barycentres of neighbours, above and below in turn, while it helps."""
    above, below = _neighbours(lines, hops)
    best = [list(line) for line in lines]
    fewest = _crossings(lines, below)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for line in lines if down else reversed(lines):
            near = above if down else below
            place = {slot: i for other in lines for i, slot in enumerate(other)}
            keys = {
                slot: fmean(place[other] for other in near[slot]) if near[slot] else place[slot]
                for slot in line
            }
            line.sort(key=keys.__getitem__)
        if (count := _crossings(lines, below)) < fewest:
            fewest, best = count, [list(line) for line in lines]
    lines[:] = best


def _neighbours(
    lines: Sequence[Sequence[Slot]], hops: Sequence[tuple[Slot, Slot]]
) -> tuple[dict[Slot, list[Slot]], dict[Slot, list[Slot]]]:
    above: dict[Slot, list[Slot]] = {slot: [] for line in lines for slot in line}
    below: dict[Slot, list[Slot]] = {slot: [] for line in lines for slot in line}
    for a, b in hops:
        above[b].append(a)
        below[a].append(b)
    return above, below


def _crossings(lines: Sequence[Sequence[Slot]], below: Mapping[Slot, Sequence[Slot]]) -> int:
    count = 0
    for line, following in pairwise(lines):
        place = {slot: i for i, slot in enumerate(following)}
        ends: list[int] = []
        for slot in line:
            here = sorted(place[other] for other in below[slot])
            count += sum(1 for end in here for earlier in ends if earlier > end)
            ends += here
    return count


def _spread(
    lines: Sequence[Sequence[Slot]],
    hops: Sequence[tuple[Slot, Slot]],
    size: Mapping[Slot, float],
    room: float,
) -> dict[Slot, float]:
    """The centre of every place: near the mean of its neighbours, in order and without overlap."""
    above, below = _neighbours(lines, hops)
    offsets = {}
    for line in lines:
        left = 0.0
        for a, b in pairwise([None, *line]):
            if a is not None:
                left += (size[a] + size[b]) / 2 + _gap(a, b)
            offsets[b] = left
    span = max(offsets[line[-1]] + (size[line[0]] + size[line[-1]]) / 2 for line in lines)
    span = max(span, min(room, span * 1.15))  # some play, so that edges can be straight
    centre = {}
    for line in lines:
        wide = offsets[line[-1]] + (size[line[0]] + size[line[-1]]) / 2
        for slot in line:
            centre[slot] = (span - wide) / 2 + size[line[0]] / 2 + offsets[slot]
    for sweep in range(SWEEPS):
        near = (above, below)[sweep % 2]
        for line in lines if sweep % 2 == 0 else reversed(lines):
            wish = [
                fmean(centre[other] for other in near[slot] or [slot]) - offsets[slot]
                for slot in line
            ]
            shift = size[line[0]] / 2
            most = span - size[line[-1]] / 2 - offsets[line[-1]]
            for slot, base in zip(line, rising(wish), strict=True):
                centre[slot] = round(min(max(base, shift), most) + offsets[slot], 1)
    return centre


def _gap(a: Slot, b: Slot) -> float:
    both = isinstance(a, str) + isinstance(b, str)
    return (1.0, ACROSS / 2, ACROSS)[both]


def rising(wishes: Sequence[float]) -> list[float]:
    """The numbers nearest to ``wishes``, in the sum of squares, that do not fall.

    Examples
    --------
    >>> rising([3.0, 1.0, 5.0])
    [2.0, 2.0, 5.0]
    """
    runs: list[tuple[float, int]] = []  # of equal numbers: sum and length
    for wish in wishes:
        total, count = wish, 1
        while runs and runs[-1][0] / runs[-1][1] > total / count:
            before, length = runs.pop()
            total, count = total + before, count + length
        runs.append((total, count))
    return [total / count for total, count in runs for _ in range(count)]
