"""Cases for the price of clusters: orthonormal bases, block projectors, lines with known prices."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from lowdim.preserve import blocks, showing


@pytest.mark.parametrize("make", ["random", "build"])
def test_bases_are_orthonormal_and_q_is_block_diagonal(make):
    case = showing.random(6, np.random.default_rng(1))
    if make == "build":
        noise = np.random.default_rng(2).standard_normal((3, 6, 9, 3))
        case = showing.build(dict(zip("VWQ", torch.from_numpy(noise), strict=True)))
    for V in case.values():
        torch.testing.assert_close(V.mT @ V, torch.eye(3).double().expand(6, 3, 3))
    apart = showing.LABELS[:, None] != showing.LABELS
    assert float((case["Q"] @ case["Q"].mT)[:, apart].abs().max()) < 1e-12


@pytest.mark.parametrize("angle", [1e-3, 0.3, math.pi / 4])
def test_a_line_has_the_price_that_the_proof_says(angle):
    V = showing.line(angle)["V"]
    assert float(blocks.price(V, showing.LABELS) ** 2) == pytest.approx(math.sin(angle) ** 2)
    mass = 2 * (math.sin(angle) * math.cos(angle)) ** 2
    assert float(blocks.off_block(V, showing.LABELS)) == pytest.approx(mass)
