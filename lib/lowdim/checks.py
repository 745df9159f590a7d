"""Refusals: one sentence that says what was supplied and what would have been accepted."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

ArrayLike: TypeAlias = Tensor | npt.ArrayLike
"""A tensor, an array, or numbers in nested lists: what functions take as a matrix or as labels."""

T = TypeVar("T")


def matrices(A: ArrayLike, name: str) -> Tensor:
    """Return ``A`` as a real floating tensor (..., m, n) of finite numbers.

    Tensors and arrays keep their precision; lists and whole numbers become double.

    Raises
    ------
    ValueError
        If ``A`` has fewer than two axes, an empty one, or an entry that is not finite.

    Examples
    --------
    >>> matrices([[1, 2], [3, 4]], "A").dtype, matrices([[0.5, 0.1]], "A").dtype
    (torch.float64, torch.float64)
    """
    # torch would read a list of Python's doubles in single precision
    tensor = A if isinstance(A, Tensor) else torch.as_tensor(np.asarray(A))
    if not tensor.is_floating_point():
        tensor = tensor.to(torch.float64)
    if tensor.ndim < 2 or 0 in tensor.shape:
        raise ValueError(
            f"{name} needs two axes or more, none of them empty; "
            f"its shape is {tuple(tensor.shape)}."
        )
    # The sum of finite numbers may overflow, but no other sum is finite, and it costs one pass.
    if not (bool(torch.isfinite(tensor.detach().sum())) or bool(torch.isfinite(tensor).all())):
        bad = int((~torch.isfinite(tensor)).sum())
        raise ValueError(f"{name} must be finite; {bad} of its {tensor.numel()} entries are not.")
    return tensor


def rank_in_range(r: int, m: int, n: int, name: str = "r") -> int:
    """Return ``r`` if it is a whole number from 1 to min(m, n).

    Examples
    --------
    >>> rank_in_range(2, 3, 4)
    2
    """
    try:
        whole = 0 if isinstance(r, bool) else index(r)
    except TypeError:
        whole = 0
    if not 1 <= whole <= min(m, n):
        raise ValueError(
            f"{name} must be a whole number from 1 to min(m, n) = {min(m, n)}; "
            f"values supplied were {name} = {r!r}, m = {m}, n = {n}."
        )
    return whole


def same_batch(A: Tensor, B: Tensor, names: tuple[str, str]) -> None:
    """Refuse two stacks of matrices whose leading axes cannot be matched.

    Examples
    --------
    >>> same_batch(torch.ones(5, 2, 2), torch.ones(2, 2), ("A", "B"))
    """
    try:
        torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    except RuntimeError:
        raise ValueError(
            f"{names[0]} and {names[1]} need matching leading axes; "
            f"their shapes are {tuple(A.shape)} and {tuple(B.shape)}."
        ) from None


def choice(value: T, choices: Iterable[T], name: str) -> T:
    """Return ``value`` if it is one of ``choices``.

    Examples
    --------
    >>> choice("fro", ("fro", "max"), "norm")
    'fro'
    """
    allowed = list(choices)
    if value not in allowed:
        listed = ", ".join(repr(c) for c in allowed)
        raise ValueError(f"{name} must be one of {listed}; you gave {value!r}.")
    return value


def whole(value: object, name: str, least: int) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least``.

    Examples
    --------
    >>> whole(3, "trials", 1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; you gave {value!r}.")
    return value
