"""How many directions fit: points on a sphere, no two with a cosine above τ."""

from __future__ import annotations

from lowdim.data import manifolds

__all__ = ["bound", "found"]


def bound(s: int, tau: float) -> float:
    """(1 + √(2/(1-τ)))^s: at least as many as any τ-separated set on the sphere in s dimensions.

    Raises
    ------
    ValueError
        If ``tau`` is not below 1 and at least -1.

    Examples
    --------
    >>> bound(2, -1.0), bound(1, -1.0)  # two points at most, in fact
    (4.0, 2.0)
    """
    if not -1 <= tau < 1:
        raise ValueError(f"tau must be at least -1 and below 1; you gave {tau}.")
    return (1 + (2 / (1 - tau)) ** 0.5) ** s


def found(s: int, tau: float, *, seed: int = 0, tries: int = 300) -> int:
    """As many τ-separated points as drawing one after the other finds, giving up after ``tries``.

    It stops beyond :func:`bound`, which it should never reach.

    Examples
    --------
    >>> found(2, 0.5)  # six would fit only as a regular hexagon
    5
    """
    count = 1
    while count <= bound(s, tau):
        try:
            manifolds.separated(count + 1, s, tau=tau, seed=seed, tries=tries)
        except ValueError:
            break
        count += 1
    return count
