"""Checkers of Part V."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lowdim.exercises.checking import checker, number, wants
from lowdim.seeds import generator


@checker
def check_between(between: Callable[[Tensor, int, float], Any]) -> None:
    """Exercise 2 of Four instruments: the least and largest excess for a spectrum and K D².

    Examples
    --------
    >>> check_between(lambda squares, K, turn: (0.0, float(squares[0]) * turn))
    'Not yet: the least excess is smaller than any space L reaches.'
    """
    for trial, (n, K) in enumerate(((7, 3), (6, 2), (9, 4), (5, 1))):
        draw = generator(0, trial, "exercise: between")
        squares = torch.from_numpy(draw.uniform(0.1, 9.0, n)).sort(descending=True).values
        for turn in (turn for turn in (0.4, 1.0, 1.7, 2.5, 4.0) if turn <= min(K, n - K)):
            answer = between(squares.clone(), K, turn)
            wants(
                isinstance(answer, tuple | list) and len(answer) == 2,
                "between returns no pair of numbers",
            )
            low, high = (number(x, "what between returns") for x in answer)
            reached = [_excess(squares, K, pairs) for pairs in _turns(n, K, turn)]
            room = 1e-9 * float(squares[0])
            wants(low <= min(reached) + room, "a space L has a smaller excess than the least")
            wants(high >= max(reached) - room, "a space L has a larger excess than the largest")
            wants(
                low >= min(reached) - room, "the least excess is smaller than any space L reaches"
            )
            wants(
                high <= max(reached) + room, "the largest excess is larger than any space L reaches"
            )


@checker
def check_still(still: Callable[..., Any]) -> None:
    """Exercise 2 of Your network: whether measuring left a network as it was, told bit by bit.

    Examples
    --------
    >>> check_still(lambda before, after: True)
    'Not yet: a weight that moved by one bit is not seen.'
    """
    weight = torch.tensor([1.0, -2.0, 0.5])
    state = {"weight": weight, "count": torch.tensor(3)}

    def copy() -> dict[str, Tensor]:
        return {name: value.clone() for name, value in state.items()}

    wants(still(state, copy()) is True, "two equal states are told apart, or the answer is no bool")
    bit = copy()
    bit["weight"][0] = torch.nextafter(bit["weight"][0], torch.tensor(2.0))
    wants(still(state, bit) is False, "a weight that moved by one bit is not seen")
    counted = copy()
    counted["count"] += 1
    wants(still(state, counted) is False, "a count of batches that went up is not seen")
    lacking = copy()
    del lacking["count"]
    wants(still(state, lacking) is False, "an entry that is gone is not seen")
    more = {**copy(), "mean": torch.zeros(1)}
    wants(still(state, more) is False, "an entry that is new is not seen")
    zero = {"mean": torch.tensor([0.0, 1.0])}
    sign = {"mean": torch.tensor([-0.0, 1.0])}
    wants(still(zero, sign) is False, "a zero that became −0 is not seen")
    nan = {"weight": torch.tensor([float("nan"), 1.0])}
    same = {"weight": nan["weight"].clone()}
    wants(still(nan, same) is True, "a NaN that stayed where it was counts as a change")
    wider = copy()
    wider["weight"] = wider["weight"].double()
    wants(still(state, wider) is False, "a weight that has another type of numbers is not seen")


def _turns(n: int, K: int, turn: float) -> list[list[tuple[int, int, float]]]:
    """Spaces by the pairs (i, j, squared sine) in which e_i is turned towards e_j, both ends."""
    whole, part = int(turn), turn - int(turn)
    sizes = [1.0] * whole + ([part] if part > 0 else [])
    near = [(K - 1 - k, K + k, size) for k, size in enumerate(sizes)]
    far = [(k, n - 1 - k, size) for k, size in enumerate(sizes)]
    return [near, far]


def _excess(squares: Tensor, K: int, pairs: list[tuple[int, int, float]]) -> float:
    """The excess of a diagonal layer over its tail, from its own definition."""
    n = len(squares)
    L = torch.eye(n, K, dtype=torch.float64)
    for i, j, size in pairs:
        L[i, i], L[j, i] = (1 - size) ** 0.5, size**0.5
    H = torch.diag(squares.sqrt())
    within = (H - H @ L @ L.mT).square().sum()
    return float(within - squares[K:].sum())
