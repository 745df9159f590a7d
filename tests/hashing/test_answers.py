"""Outputs to attack: losses and errors by counting, and instances that attain bounds."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import answers
from lowdim.seeds import generator


def test_losses_and_errors_are_those_of_a_loop():
    Y = answers.random_answers(6, generator(0, 0, "answers"))["Y"]
    m, n = Y.shape[1:3]
    for b in range(len(Y)):
        total, wrong = 0.0, 0
        for c in range(m):
            for i in range(n):
                y = Y[b, c, i].numpy()
                others = np.delete(y, c)
                total += 0.5 * (1 - y[c]) ** 2 + (others**2).sum() / (2 * (m - 1))
                wrong += others.max() >= y[c]
        assert answers.loss(Y)[b].item() == pytest.approx(total / (m * n))
        assert answers.misread(Y)[b].item() == pytest.approx(wrong / (m * n))
    torch.testing.assert_close(answers.loss(Y[3:4])[0], answers.loss(Y)[3])


@pytest.mark.parametrize("m", [2, 3, 8])
def test_a_tie_attains_twice_the_number_of_classes(m):
    Y = answers.tied(m)["Y"]
    assert answers.misread(Y).item() == pytest.approx(2 * m * answers.loss(Y).item())


def test_centring_gains_between_the_two_weights():
    Y = answers.random_answers(50, generator(0, 1, "answers"))["Y"]
    gain, V = answers.centred(Y)
    assert bool((gain >= V / 6 * (1 - 1e-6)).all() and (gain <= V / 2 * (1 + 1e-6)).all())
    gain, V = answers.centred(answers.varies_off_class()["Y"])
    assert gain.item() == pytest.approx(V.item() / 4)


def test_outputs_are_products_and_distances_are_of_like_points():
    case = answers.spread_out(4, generator(0, 2, "answers"))
    Y, H = answers.outputs(**case), answers.apart(case["R"])
    A, R = case["A"][2], case["R"][2]
    torch.testing.assert_close(Y[2, 1, 0], A @ R[1, 0])
    mean = torch.stack([(R[0] - R[j]).square().sum(-1).mean() for j in (1, 2, 3)]).mean()
    torch.testing.assert_close(H[2, 0], mean)


@pytest.mark.parametrize(("m", "a"), [(2, 0.0), (3, 0.2), (8, 0.1)])
def test_a_simplex_attains_the_sharp_bound(m, a):
    case = answers.simplex(m, a)
    L = answers.loss(answers.outputs(**case)).item()
    assert L == pytest.approx(a * a, abs=1e-12)
    low = 2 * (m - 1) * (1 - 2 * a) ** 2 / case["A"].square().sum().item()
    assert answers.apart(case["R"]).mean().item() == pytest.approx(low, rel=1e-5)


def test_balanced_pairs_have_half_their_products_tilted():
    case = answers.balanced_pairs(400, generator(0, 3, "answers"), top=16.0)
    norms = case["W"].norm(dim=(1, 2))
    assert norms[:200].median() < 0.5 * norms[200:].median()
    assert 12 < case["V"].max() <= 16


def test_single_instances_have_their_shapes():
    one = answers.one_direction(0.5)
    assert {key: tuple(v.shape) for key, v in one.items()} == {
        "W": (1, 3, 4),
        "Z": (1, 4, 4),
        "V": (1,),
    }
    assert answers.numbers(a=2.0)["a"].tolist() == [[2.0]]
