"""Balanced factors and their rotations: oracles of scipy, and the bound that the chapter proves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import rotations
from lowdim.seeds import generator
from scipy.linalg import orthogonal_procrustes, sqrtm


def test_stacked_factors_are_balanced_and_give_the_product():
    W = torch.from_numpy(generator(0, 0, "rotations").standard_normal((4, 3, 5)))
    X = rotations.stacked(W, 6)
    A, B = X[:, :3], X[:, 3:].mT
    torch.testing.assert_close(A @ B, W)
    torch.testing.assert_close(A.mT @ A, B @ B.mT)
    expected = np.real(sqrtm((W[1] @ W[1].mT).numpy()))
    np.testing.assert_allclose((A[1] @ A[1].mT).numpy(), expected, atol=1e-10)
    torch.testing.assert_close(rotations.stacked(W[2], 6), X[2])


def test_nearest_is_the_answer_of_procrustes():
    X, Y = (torch.from_numpy(generator(0, t, "near").standard_normal((3, 7, 4))) for t in (0, 1))
    near = rotations.nearest(X, Y)
    for i in range(3):
        R, _ = orthogonal_procrustes(Y[i].numpy(), X[i].numpy())
        np.testing.assert_allclose(near[i].numpy(), Y[i].numpy() @ R, atol=1e-10)


def test_moves_have_their_lengths_and_rotated_factors_follow():
    moves = rotations.random_moves(40, generator(0, 0, "moves"))
    W1, W2 = (X[:, :3] @ X[:, 3:].mT for X in (moves.X1, moves.X2))
    torch.testing.assert_close((W1 - W2).norm(dim=(1, 2)), moves.size, rtol=1e-6, atol=1e-12)
    assert bool((W1[:10, 0].norm(dim=-1) < 1e-12).all()) and int(moves.deficient.sum()) == 10
    near = (moves.X1 - rotations.nearest(moves.X1, moves.X2)).square().sum((1, 2))
    assert bool((near <= 2 * 6**0.5 * moves.size * (1 + 1e-6)).all())


def test_a_width_below_the_rank_is_refused():
    with pytest.raises(ValueError, match=r"width must be 2 or more; you gave 1"):
        rotations.stacked(torch.eye(2, dtype=torch.float64), 1)


def test_products_differ_in_size_by_decades():
    case = rotations.two_products(200, generator(0, 0, "two"))
    sizes = case["V"].norm(dim=(1, 2))
    assert sizes.max() / sizes.min() > 100 and tuple(case["R"].shape) == (200, 3, 3)


def test_the_picture_has_three_clouds_and_a_line():
    moves = rotations.random_moves(8, generator(0, 0, "picture"))
    near = torch.full((8,), 1e-4, dtype=torch.float64)
    fig = rotations.distances(moves, torch.ones(8), near, bound=4.0)
    clouds = fig.axes[0].lines
    assert [len(line.get_xdata()) for line in clouds] == [8, 6, 2, 20]
    x, y = clouds[3].get_data()
    np.testing.assert_allclose(y, 2 * np.sqrt(x))
