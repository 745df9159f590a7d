"""Spaces with the indicators: projectors written out, equality, and the expected overlap."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.preserve import indicators


def test_distance_overlap_and_what_is_kept_equal_those_of_full_projectors():
    case = indicators.random(5, np.random.default_rng(0))
    found = indicators.against(case)
    for t in range(5):
        C = torch.zeros(5, 15, dtype=torch.float64)
        C[:2, :4], C[2:4, 4:9] = case["C"][t, :2, :4], case["C"][t, 2:4, 4:9]
        C[4:, 9:] = case["C"][t, 4:, 9:]
        P = torch.linalg.pinv(C) @ C
        S = torch.cat([indicators.units(), case["B"][t]], 1)
        Q = S @ torch.linalg.pinv(S)
        assert float(found.overlap[t]) == pytest.approx(float((P * Q).sum()))
        far = float((P - Q).norm()) / 10**0.5
        assert float(found.distance[t]) == pytest.approx(far)
        kept = sum(float(u @ P @ u) for u in indicators.units().T)
        assert float(found.kept[t]) == pytest.approx(kept)


@pytest.mark.parametrize("seed", range(4))
def test_aligned_directions_attain_the_bound(seed):
    found = indicators.against(indicators.aligned(seed))
    bound = (indicators.CLUSTERS - found.kept) / indicators.RANK
    assert float(found.distance**2) == pytest.approx(float(bound), abs=1e-10)


def test_gaussian_coefficients_keep_r_k_over_n_k_of_an_indicator():
    found = indicators.against(indicators.random(4000, np.random.default_rng(1)))
    expected = sum(d / n for d, n in zip(indicators.DIMS, indicators.SIZES, strict=True))
    assert float(found.kept.mean()) == pytest.approx(expected, rel=0.03)
