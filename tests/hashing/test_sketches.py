"""Random projections: their means and tails, and the least loss of a width."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import sketches
from lowdim.seeds import generator


def test_the_smallest_width_of_one_point_is_a_quantile_of_chi_squared() -> None:
    from scipy.stats import chi2

    k = sketches.smallest_width(1, 0.5, 0.1, draws=4000, rng=generator(0, 0, "one"))

    def within(k: int) -> float:
        return float(chi2.cdf(1.5 * k, k) - chi2.cdf(0.5 * k, k))

    assert within(k + 4) > 0.9 > within(k - 4)


def test_a_width_that_is_never_enough_is_the_most() -> None:
    found = sketches.smallest_width(
        4, 1e-6, 0.5, draws=5, rng=generator(0, 0, "few"), step=5, most=20
    )
    assert found == 20


def test_misses_fall_with_the_width_and_with_the_tolerance() -> None:
    counts = [
        sketches.misses(6, k, eps, draws=200, rng=generator(0, 0, "misses"))
        for k, eps in ((4, 0.2), (4, 3.0), (400, 0.5))
    ]
    assert counts[0] > 150 > counts[1] and counts[2] == 0


def test_a_projected_loss_has_its_exact_mean() -> None:
    gram = torch.tensor([[1.0, 0.3, 0.0], [0.3, 1.0, 0.6], [0.0, 0.6, 1.0]]).double()
    T, draws = 5, 20000
    found = sketches.losses(gram, T, draws=draws, rng=generator(0, 0, "mean"))
    own = 0.5 * 2 / T  # Var⟨Ra, Ra⟩ = 2/T for unit a
    off = gram[~torch.eye(3, dtype=torch.bool)]
    other = 0.5 * float((off.square() + (1 + off.square()) / T).mean())
    error = float(found.std()) / draws**0.5
    assert abs(float(found.mean()) - own - other) < 4 * error


@pytest.mark.parametrize(("m", "T"), [(3, 1), (4, 2), (4, 4)])
def test_descent_meets_the_bound_of_a_projection_of_rank_t(m: int, T: int) -> None:
    ratio = (m - T) / (T * (m - 1))
    assert sketches.best_loss(m, T) == pytest.approx(ratio / (1 + ratio) / 2, abs=1e-3)


def test_a_width_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="T"):
        sketches.losses(torch.eye(2).double(), 0, draws=2, rng=np.random.default_rng(0))
