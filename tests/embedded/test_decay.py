"""Decay laws against torch's optimizers on λw², and the constants against their series."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from lowdim.embedded import decay


def by_torch(optimizer, penalty, steps, **options):
    p = torch.nn.Parameter(torch.tensor([1.0, -3.0], dtype=torch.float64))
    run, seen = optimizer([p], **options), [p.detach().clone()]
    for _ in range(steps):
        run.zero_grad()
        (penalty * p.square().sum()).backward()
        run.step()
        seen.append(p.detach().clone())
    return torch.stack(seen)


def test_geometric_is_gradient_descent():
    path = by_torch(torch.optim.SGD, 0.3, 9, lr=0.1)
    assert torch.allclose(decay.geometric(path[0], 9, factor=1 - 0.06), path, rtol=1e-12)


def test_geometric_is_decoupled_decay():
    path = by_torch(torch.optim.AdamW, 0.0, 9, lr=0.1, weight_decay=0.2)
    assert torch.allclose(decay.geometric(path[0], 9, factor=1 - 0.02), path, rtol=1e-12)


@pytest.mark.parametrize("steps", [1, 12])
def test_momentum_is_a_heavy_ball(steps):
    path = by_torch(torch.optim.SGD, 0.3, steps, lr=0.1, momentum=0.8)
    law = decay.momentum(path[0], steps, rate=0.1, penalty=0.3, mu=0.8)
    assert torch.allclose(law, path, rtol=1e-11)


def test_adam_is_adam():
    path = by_torch(torch.optim.Adam, 0.3, 60, lr=0.05)
    assert torch.allclose(decay.adam(path[0], 60, penalty=0.3, rate=0.05), path, rtol=1e-9)


def test_no_step_of_adam_is_longer_than_its_constant():
    sums = decay.adam_sums()
    assert float(sums.max()) <= decay.adam_constant() ** 2 * (1 + 1e-9)
    assert float(sums[-1]) == pytest.approx(decay.adam_constant() ** 2, rel=0.01)
    path = decay.adam(torch.tensor([2.0]).double(), 3000, penalty=0.1, epsilon=0.0)
    assert float(path.diff(dim=0).abs().max()) <= 0.01 * decay.adam_constant()


def test_shrink_is_a_product_over_all_steps():
    rates = [0.3, 0.2, 0.1]
    wanted = math.prod(1 - 2 * 0.4 * rate for rate in rates for _ in range(5))
    assert decay.shrink(0.4, rates, 5) == pytest.approx(wanted, rel=1e-12)


def test_schedules_know_their_room():
    case = decay.schedules(50, np.random.default_rng(0))
    factors = 1 - 2 * case["lam"][:, None] * case["eta"]
    assert torch.allclose(case["room"], factors.amin(1))


def test_adam_in_plain_numbers_is_adam_in_tensors() -> None:
    long = decay.adam_long(1.0, 300, floor=1e-8 / 0.6)
    other = decay.adam(torch.ones(1).double(), 300, penalty=0.3)[:, 0].numpy()
    np.testing.assert_allclose(long, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("beta", [(0.9, 0.999), (0.5, 0.99), (0.0, 0.9)])
def test_adam_with_a_penalty_comes_back(beta: tuple[float, float]) -> None:
    path = np.abs(decay.adam_long(1.0, 60_000, beta=beta))
    assert path[30_000:].max() >= 0.01 * decay.adam_floor(beta[0])
    scaled = decay.adam_long(0.1, 5_000, rate=0.001, beta=beta)  # only w/η matters
    np.testing.assert_allclose(scaled[:201] * 10, decay.adam_long(1.0, 200, beta=beta), rtol=1e-9)


def test_a_large_epsilon_lets_it_decay() -> None:
    stable = decay.adam_long(1.0, 30_000, floor=0.01 / 30)  # 2λη/ε = 30, below 38
    assert abs(stable[-1]) < 1e-12
    assert np.abs(decay.adam_long(1.0, 30_000, floor=0.01 / 60)[20_000:]).max() > 1e-6
