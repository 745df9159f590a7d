"""Exercise 2 of Your network."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    if before.keys() != after.keys():
        return False
    return all(
        a.dtype == after[k].dtype and a.numpy().tobytes() == after[k].numpy().tobytes()
        for k, a in before.items()
    )


def wrong_close(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    """Near enough is not the same."""
    return before.keys() == after.keys() and all(
        torch.allclose(before[k], after[k], equal_nan=True) for k in before
    )


def wrong_nan(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    """Equality of values: a NaN is never equal to itself."""
    return before.keys() == after.keys() and all(torch.equal(before[k], after[k]) for k in before)


def wrong_keys(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    """Looks at what both have."""
    return all(
        before[k].numpy().tobytes() == after[k].numpy().tobytes() for k in before if k in after
    )


def wrong_sign(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    """A NaN equals itself, but so do 0 and −0."""
    return before.keys() == after.keys() and all(
        bool(((before[k] == after[k]) | (before[k].isnan() & after[k].isnan())).all())
        for k in before
    )


def wrong_widened(before: dict[str, Tensor], after: dict[str, Tensor]) -> bool:
    """Makes everything double first: another type of numbers does not show."""
    return before.keys() == after.keys() and all(
        before[k].double().numpy().tobytes() == after[k].double().numpy().tobytes() for k in before
    )
