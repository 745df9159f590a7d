"""Complexities of squares against brute force over signs and radii."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import square_classes
from lowdim.seeds import generator


def test_one_point_by_hand_with_the_offset_fixed_and_free():
    case = square_classes.one([[1.0]], 0.1, 1.0)
    fixed, free = (square_classes.complexities(**case, free=f) for f in (False, True))
    assert fixed.item() == pytest.approx((1.1**2 - 0.9**2) / 2)
    assert free.item() == pytest.approx(1.1**2 / 2)


def test_orthogonal_points_without_offset_see_the_largest_sign():
    """The supremum is 1 unless all four signs are negative."""
    case = square_classes.one(np.eye(4), 1.0, 0.0)
    assert square_classes.complexities(**case, free=False).item() == pytest.approx(15 / 16 / 4)


def test_an_instance_of_a_batch_is_that_instance_alone():
    case = square_classes.random_balls(4, generator(0, 0, "balls"), n=3, d=2)
    assert bool((case["X"].norm(dim=-1) <= 1 + 1e-12).all())
    together = square_classes.complexities(**case, free=True)
    for i in range(4):
        alone = {name: value[i : i + 1] for name, value in case.items()}
        assert together[i].item() == pytest.approx(
            square_classes.complexities(**alone, free=True).item(), rel=1e-12
        )


def test_a_free_offset_is_worth_no_less_than_a_fixed_one():
    free = square_classes.random_free(5, generator(1, 0, "climb"))
    case = square_classes.from_free(free)
    fixed, any_offset = (square_classes.complexities(**case, free=f) for f in (False, True))
    assert bool((any_offset >= fixed - 1e-9).all())
    assert torch.equal(case["X"], free["X"])


def test_a_search_comes_close_to_the_dual_and_not_above_it():
    case = square_classes.searched(120, generator(2, 0, "search"), starts=12, steps=200)
    ratio = case["found"] / case["dual"].clamp_min(1e-12)
    assert bool((case["found"] <= case["dual"] * (1 + 1e-9) + 1e-9).all())
    assert float(ratio.median()) > 0.999


def test_no_instances_are_refused():
    with pytest.raises(ValueError, match="count"):
        square_classes.random_balls(0, generator(0, 0, "balls"))
