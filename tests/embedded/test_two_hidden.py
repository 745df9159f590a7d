"""Small networks by hand against autograd."""

from __future__ import annotations

import numpy as np
import torch
from lowdim.embedded import noise_cases, two_hidden
from lowdim.evidence import drawn


def drawn_networks(count, seed=0):
    return drawn(noise_cases.networks()[0])(count, np.random.default_rng(seed))


def test_what_goes_back_is_the_gradient():
    case = drawn_networks(5)
    points = torch.from_numpy(np.random.default_rng(1).standard_normal((5, 2, 6)))
    points.requires_grad_(True)
    f, back = two_hidden.passed(case, points)
    (gradient,) = torch.autograd.grad(f.sum(), points)
    assert torch.allclose(case["A"].mT @ back, gradient)
    alone, _ = two_hidden.passed({name: v[2:3] for name, v in case.items()}, points[2:3])
    assert torch.allclose(alone, f[2:3])


def test_a_network_stretches_by_no_more_than_the_product():
    case = drawn_networks(40)
    rng = np.random.default_rng(2)
    here, there = (torch.from_numpy(rng.standard_normal((40, 2, 6))) for _ in range(2))
    moved = two_hidden.passed(case, here)[0] - two_hidden.passed(case, there)[0]
    bound = two_hidden.stretch(case, "ABC") * two_hidden.rms(here - there)
    assert bool((two_hidden.rms(moved) <= bound * (1 + 1e-12)).all())


def test_the_norms_multiply():
    case = drawn_networks(3)
    each = [torch.linalg.svdvals(case[name])[:, 0] for name in "BC"]
    assert torch.allclose(two_hidden.stretch(case, "BC"), each[0] * each[1])


def test_one_neuron_attains_the_speed_limit():
    case = two_hidden.lone_neuron()
    y = case["e"][:, 1:]
    f, back = two_hidden.passed(case, torch.cat([case["x"], y], 1))
    miss = f - case["g"]
    gradient = (back * miss * y).mean(-1).norm(dim=1)
    limit = two_hidden.stretch(case, "BC") * two_hidden.rms(miss) * two_hidden.rms(y)
    assert torch.allclose(gradient, limit)
