"""Balance of factors: the kernel against automatic differentiation, conservation, identities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.embedded import balance, flows
from lowdim.embedded.flows import Flow

FLOW = Flow(np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([1.0, -0.2]), 3)


def factors(seed=0, width=4):
    return balance.kaiming_factors(2, 3, width, rng=np.random.default_rng(seed))


def test_kernel_is_the_gram_matrix_of_the_derivatives_of_w():
    W = [V.clone().requires_grad_(True) for V in factors()]
    w = (W[2] @ W[1] @ W[0])[0]
    rows = [torch.autograd.grad(w[i], W, retain_graph=True) for i in range(2)]
    flat = torch.stack([torch.cat([g.flatten() for g in row]) for row in rows])
    assert np.allclose(balance.kernel(factors()), (flat @ flat.T).numpy(), rtol=1e-12)


def test_kernel_of_balanced_factors_is_that_of_the_flow():
    w = np.array([0.6, -1.1])
    K = balance.kernel(flows.balanced_factors(w, 3, 4))
    size = np.linalg.norm(w)
    wanted = size ** (4 / 3) * (np.eye(2) + 2 * np.outer(w, w) / size**2)
    assert np.allclose(K, wanted, rtol=1e-12)


def test_imbalance_of_scalars_is_a_difference_of_squares():
    W = [torch.tensor([[v]], dtype=torch.float64) for v in (1.0, -3.0, 2.0)]
    assert [float(D) for D in balance.imbalances(W)] == [8.0, -5.0]
    assert balance.imbalance(W) == 8.0


def test_the_drift_of_one_step_is_of_second_order():
    coarse, fine = (balance.drift(FLOW, factors(), rate) for rate in (0.02, 0.01))
    assert np.allclose(coarse[:, 0], 4 * fine[:, 0], rtol=1e-6)
    assert coarse[:, 2].max() < 1e-12


def test_unbalanced_factors_follow_the_kernel_and_not_the_flow():
    step, by_kernel, by_flow = balance.velocity(FLOW, factors())
    assert np.allclose(step, by_kernel, rtol=1e-5)
    assert np.linalg.norm(step - by_flow) > 0.1 * np.linalg.norm(by_flow)


def test_descent_approaches_the_flow_from_balanced_factors_only():
    even = flows.balanced_factors([0.6, 0.8], 3, 4)
    coarse, fine = balance.apart(FLOW, even, 0.02)[0], balance.apart(FLOW, even, 0.005)[0]
    assert coarse / fine == pytest.approx(4, rel=0.2)
    far = [balance.apart(FLOW, factors(), rate)[0] for rate in (0.02, 0.005)]
    assert far[1] > 0.8 * far[0] > 10 * coarse


def test_kaiming_factors_have_the_product_asked_for():
    W = balance.kaiming_factors(2, 3, 4, rng=np.random.default_rng(1), low=0.9, high=1.1)
    assert 0.9 < np.linalg.norm(balance.end_to_end(W)) < 1.1
    with pytest.raises(ValueError, match="below high; you gave 2 and 1"):
        balance.kaiming_factors(2, 3, 4, rng=np.random.default_rng(1), low=2, high=1)


def test_only_balanced_pairs_have_the_kernel_of_the_flow():
    even, others = balance.two_layer_kernels(30, seed=3)
    assert even.shape == (30,) and even.max() < 1e-12
    assert others.shape == (60,) and others.min() > 1e-4
