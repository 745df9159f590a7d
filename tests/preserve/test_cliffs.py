"""Cases for the gap of Theorem 3.1: noise as large as said, and the diagonal example by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.preserve import cliffs


def test_noise_is_a_tenth_to_six_fifths_of_what_the_first_gap_bears():
    case = cliffs.random(30, np.random.default_rng(0))
    clean, Z = (case[name].numpy() for name in ("clean", "Z"))
    signal = np.linalg.svd(clean, compute_uv=False)
    share = case["c"].numpy() * np.linalg.norm(Z, 2, axis=(1, 2)) / signal[:, 2]
    assert (share > 0.1 - 1e-9).all() and (share < 1.2 + 1e-9).all()
    assert (signal[:, 3] < 1e-9).all()  # X* has rank three


def test_epsilon_is_the_smallest_entry_of_the_projector_that_is_not_zero():
    case = cliffs.random(3, np.random.default_rng(0))
    for t in range(3):
        V = np.linalg.svd(case["clean"][t].numpy())[2][:3]
        P = np.abs(V.T @ V)
        eps = P[P > 1e-9].min()
        assert float(case["c"][t]) == pytest.approx(384**0.5 / eps, rel=1e-6)


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_the_diagonal_example_is_at_the_edge(share):
    case = cliffs.diagonal(share)
    X = case["clean"] + case["Z"]
    torch.testing.assert_close(X[0].diagonal(), torch.tensor([1, share / 128**0.5]).double())
    assert float(case["c"] * X[0, 1, 1]) == pytest.approx(share, rel=1e-6)
