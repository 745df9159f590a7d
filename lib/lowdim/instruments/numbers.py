"""A measured number with its error, its range over the points, and what it needed."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

__all__ = ["Number", "jackknife", "missing"]


@dataclass(frozen=True)
class Number:
    """value: None where it cannot be had, with the ``reason``; low, high: the 95 % range over
    points like these, or a proved enclosure (``kind``); error: at most how far rounding and
    approximation move the value; points: how many it was taken from; needs: what it could not do
    without."""

    value: float | None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    points: int = 0
    needs: tuple[str, ...] = ()
    kind: str = "jackknife"
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"– ({self.reason})"
        if self.low is None or self.high is None:
            return f"{self.value:.3g}"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    def as_json(self) -> dict[str, Any]:
        """A dictionary for JSON, without what is not finite.

        Examples
        --------
        >>> Number(1.0, points=3).as_json()["points"]
        3
        """
        found = asdict(self)
        for key in ("value", "low", "high", "error"):
            if found[key] is not None and not math.isfinite(found[key]):
                found[key] = str(found[key])
        return found


def missing(reason: str, *needs: str) -> Number:
    """A number that cannot be had, with the reason.

    Examples
    --------
    >>> print(missing("there are no labels"))
    – (there are no labels)
    """
    return Number(None, needs=needs, reason=reason)


@functools.cache
def _quantile(degrees: int) -> float:
    """Student's, at 97.5 %: it is asked for hundreds of times, for one number of groups."""
    return float(stats.t.ppf(0.975, degrees))


def jackknife(
    value: float, without: Sequence[float], *, least: float = -math.inf
) -> tuple[Any, Any]:
    """The 95 % range of ``value`` from its values ``without`` each of G groups of points.

    Student's quantile with G - 1 degrees of freedom times the jackknife's standard error. None
    where fewer than two groups are finite.

    Examples
    --------
    >>> x = np.arange(20.0)
    >>> groups = x.reshape(2, 10).T
    >>> low, high = jackknife(x.mean(), [(x.sum() - g.sum()) / 18 for g in groups])
    >>> round((low + high) / 2, 9), low < 9 < high
    (9.5, True)
    """
    finite = np.array([w for w in without if math.isfinite(w)])
    if len(finite) < 2 or not math.isfinite(value):
        return None, None
    count = len(finite)
    spread = math.sqrt((count - 1) / count * float(((finite - finite.mean()) ** 2).sum()))
    half = _quantile(count - 1) * spread
    return float(max(value - half, least)), float(value + half)
