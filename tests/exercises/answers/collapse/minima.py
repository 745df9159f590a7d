"""Exercise 2 of exact rank."""

from __future__ import annotations

from collections.abc import Sequence

from lowdim.collapse import selections


def solution(moments: Sequence[float], lam: float, depth: int, width: int) -> int:
    ratio = selections.edge(depth)[0]
    return 1 + min(width, sum(m > ratio * lam for m in moments))


def wrong_all_subsets(moments: Sequence[float], lam: float, depth: int, width: int) -> int:
    """Every set of directions that can be kept, not only the leading ones."""
    return 2 ** min(width, sum(m > selections.edge(depth)[0] * lam for m in moments))


def wrong_no_zero(moments: Sequence[float], lam: float, depth: int, width: int) -> int:
    """Forgets that keeping nothing is a minimum as well."""
    return min(width, sum(m > selections.edge(depth)[0] * lam for m in moments))


def wrong_shallow(moments: Sequence[float], lam: float, depth: int, width: int) -> int:
    """The threshold of two layers."""
    return 1 + min(width, sum(m > lam for m in moments))


def wrong_no_width(moments: Sequence[float], lam: float, depth: int, width: int) -> int:
    """Forgets that a narrow layer keeps no more directions than it has units."""
    return 1 + sum(m > selections.edge(depth)[0] * lam for m in moments)


def wrong_four_layers(moments: Sequence[float], lam: float, depth: int, width: int) -> int:
    """The chapter's threshold for four layers, whatever the depth."""
    return 1 + min(width, sum(m > selections.edge(4)[0] * lam for m in moments))
