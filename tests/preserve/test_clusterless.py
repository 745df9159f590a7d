"""Data with clusters and without have one strength and one rank."""

from __future__ import annotations

import pytest
import torch
from lowdim.preserve import clusterless


def test_the_expected_gram_matrix_does_not_depend_on_the_number_of_blocks():
    sizes = {"ambient": 16, "dim": 2, "size": 40, "noise": 0.0, "trials": 200, "seed": 1}
    for count in (1, 2, 4):
        D = clusterless.blocks(count, **sizes)
        gram = (D.coefficients @ D.coefficients.mT).mean(0)
        assert torch.allclose(gram, 40 * torch.eye(8, dtype=torch.float64), atol=3)
        assert D.clean.shape == (200, 16, 160)


def test_one_block_has_one_label_and_four_have_four():
    sizes = {"ambient": 12, "dim": 1, "size": 5, "noise": 0.1, "trials": 1, "seed": 0}
    assert set(clusterless.blocks(1, **sizes).labels) == {0}
    assert set(clusterless.blocks(4, **sizes).labels) == {0, 1, 2, 3}
    with pytest.raises(ValueError):
        clusterless.blocks(1, **{**sizes, "ambient": 3})
