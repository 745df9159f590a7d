"""Maps that do not know the noise: their rows, and what theory says of signal and noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.preserve import compression, maps


@pytest.mark.parametrize("kind", compression.KINDS[:2])
def test_rows_are_orthonormal_and_aligned_ones_keep_the_signal(kind):
    rng = np.random.default_rng(0)
    D = maps.union(3, rng, ambient=20, dims=(2, 1), sizes=(4, 5))
    W = compression.rows_of(kind, D, 7, rng)
    eye = torch.eye(7, dtype=torch.float64).expand(3, 7, 7)
    torch.testing.assert_close(W @ W.mT, eye)
    kept = torch.linalg.matrix_norm(W @ D.clean, 2) / torch.linalg.matrix_norm(D.clean, 2)
    assert bool((kept > 1 - 1e-9).all()) == (kind == "aligned rows")


def test_aligned_rows_clean_the_data_and_random_ones_do_not():
    seen = compression.compressed(0.01, [8, 56], ambient=100, draws=3, seed=1)
    before = seen["no map", 100]
    assert before.relative == 1
    for h in (8, 56):
        # The signal stays and the noise shrinks like √h + √n.
        expected = (h**0.5 + 80**0.5) / (100**0.5 + 80**0.5)
        assert seen["aligned rows", h].relative == pytest.approx(expected, rel=0.1)
        assert seen["aligned rows", h].distance < before.distance
        assert seen["orthonormal rows", h].relative > 1
