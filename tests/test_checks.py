"""Refusals: what is taken, at both ends of every range, and the sentence for what is not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim import checks


def test_matrices_keep_their_precision_and_lists_are_double() -> None:
    for given, kind in (
        ([[1, 2]], torch.float64),
        ([[0.1]], torch.float64),
        (np.ones((2, 3), np.float32), torch.float32),
        (torch.ones(2, 3, dtype=torch.int64), torch.float64),
        (torch.ones(4, 2, 3, dtype=torch.float16), torch.float16),
    ):
        found = checks.matrices(given, "A")
        assert found.dtype == kind and found.shape == torch.as_tensor(np.asarray(given)).shape
    same = torch.ones(2, 2)
    assert checks.matrices(same, "A") is same


@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (2, 0), (0, 2, 2)])
def test_too_few_axes_and_empty_ones_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"B needs two axes or more, none of them empty; its"):
        checks.matrices(torch.ones(shape), "B")


def test_only_numbers_that_are_not_finite_are_refused() -> None:
    A = torch.ones(2, 3)
    A[0, 1], A[1, 2] = torch.nan, torch.inf
    with pytest.raises(ValueError, match=r"^A must be finite; 2 of its 6 entries are not\.$"):
        checks.matrices(A, "A")
    large = torch.full((2, 2), torch.finfo(torch.float32).max)
    assert torch.isinf(large.sum()) and checks.matrices(large, "A") is large
    free = torch.ones(2, 2, requires_grad=True)
    assert checks.matrices(free, "A") is free


@pytest.mark.parametrize("r", [1, 2, 3, np.int64(3)])
def test_ranks_from_one_to_the_smaller_side(r: int) -> None:
    assert checks.rank_in_range(r, 3, 5) == checks.rank_in_range(r, 5, 3) == int(r)


@pytest.mark.parametrize("r", [0, 4, -1, True, 2.0, "2", None])
def test_other_ranks_are_refused(r: object) -> None:
    with pytest.raises(ValueError, match=r"k must be .* min\(m, n\) = 3; .* m = 3, n = 5\.$"):
        checks.rank_in_range(r, 3, 5, "k")


def test_leading_axes_match_by_broadcasting_and_only_they() -> None:
    checks.same_batch(torch.ones(4, 1, 2, 3), torch.ones(5, 7, 8), ("A", "B"))
    with pytest.raises(ValueError, match=r"A and B need matching .* \(4, 2, 3\) and \(5, 2, 3\)"):
        checks.same_batch(torch.ones(4, 2, 3), torch.ones(5, 2, 3), ("A", "B"))


def test_choices_are_listed() -> None:
    assert checks.choice(2, iter((1, 2)), "n") == 2
    with pytest.raises(ValueError, match=r"^n must be one of 1, 2; you gave 3\.$"):
        checks.choice(3, iter((1, 2)), "n")


@pytest.mark.parametrize("least", [0, 1, 5])
def test_whole_numbers_from_the_least_on(least: int) -> None:
    assert checks.whole(least, "n", least) == least
    for value in (least - 1, True, float(least), str(least), None):
        with pytest.raises(ValueError, match=rf"n must be a whole number, {least} or more; you"):
            checks.whole(value, "n", least)
