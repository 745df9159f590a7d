"""Refusals of numbers that lie outside their range."""

from __future__ import annotations

import math


def number(
    value: object,
    name: str,
    *,
    above: float | None = None,
    least: float = -math.inf,
    below: float = math.inf,
) -> float:
    """``value`` as a float if it is more than ``above``, or ``least`` or more, and below ``below``.

    Raises
    ------
    ValueError
        If it is not such a number.

    Examples
    --------
    >>> number(0.5, "beta", least=0, below=1)
    0.5
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        if (value >= least if above is None else value > above) and value < below:
            return float(value)
    low = f"{least:g} or above" if above is None else f"above {above:g}"
    end = " and finite" if math.isinf(below) else f" and below {below:g}"
    raise ValueError(f"{name} must be a number {low}{end}; you gave {value!r}.")
