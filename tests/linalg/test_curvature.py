"""Curvature: torch's dense Hessian, quadratics of known spectrum, symmetries of networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import curvature


def normal(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.standard_normal(shape))


def autoencoder(X: torch.Tensor, activation=torch.relu):
    return lambda W, V: ((V @ activation(W @ X) - X) ** 2).sum()


def quadratic(values: torch.Tensor, rng: np.random.Generator):
    """A quadratic with these eigenvalues in a random orthonormal basis, and that basis."""
    Q = torch.linalg.qr(normal(rng, len(values), len(values))).Q
    A = Q @ torch.diag(values) @ Q.mT
    return (lambda x: x @ A @ x / 2), Q


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([torch.relu, torch.tanh, torch.sigmoid]))
def test_products_and_dense_agree_with_torch(seed, activation):
    rng = np.random.default_rng(seed)
    loss = autoencoder(normal(rng, 3, 5), activation)
    W, V = normal(rng, 2, 3), normal(rng, 3, 2)
    blocks = torch.autograd.functional.hessian(loss, (W, V))
    oracle = torch.cat([torch.cat([b.reshape(6, 6) for b in row], 1) for row in blocks])
    assert torch.allclose(curvature.dense_hessian(loss, [W, V]), oracle, atol=1e-10)
    v = normal(rng, 12)
    product = curvature.hessian_vector_product(loss, [W, V])(v)
    assert torch.allclose(product, oracle @ v, atol=1e-10)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_gradient_and_products_agree_with_differences(seed):
    rng = np.random.default_rng(seed)
    loss = autoencoder(normal(rng, 3, 4), torch.tanh)
    W, V, step = normal(rng, 2, 3), normal(rng, 3, 2), 1e-5
    dW, dV = normal(rng, 2, 3), normal(rng, 3, 2)
    at = lambda t: [W + t * dW, V + t * dV]  # noqa: E731
    direction = curvature.flat([dW, dV])
    slope = (loss(*at(step)) - loss(*at(-step))) / (2 * step)
    assert float(curvature.gradient(loss, at(0)) @ direction) == pytest.approx(
        float(slope), rel=1e-5, abs=1e-5
    )
    change = curvature.gradient(loss, at(step)) - curvature.gradient(loss, at(-step))
    product = curvature.hessian_vector_product(loss, at(0))(direction)
    assert torch.allclose(product, change / (2 * step), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("end", curvature.ENDS)
@pytest.mark.parametrize("size", [20, 150])  # factored, and by Lanczos
def test_ends_of_a_known_spectrum(end, size):
    rng = np.random.default_rng(size)
    values = torch.linspace(-3.0, 40.0, size, dtype=torch.float64)
    loss, Q = quadratic(values, rng)
    found = curvature.extreme_eigenvalues(loss, normal(rng, size), count=3, end=end, tolerance=1e-9)
    chosen = {"smallest": values[:3], "largest": values[-3:]}
    expected = chosen.get(end, torch.cat([values[:3], values[-3:]]))
    assert torch.allclose(found.values, expected, atol=1e-6)
    assert float(found.residuals.max()) < 1e-5
    at = [int((values - v).abs().argmin()) for v in expected]
    assert torch.allclose((Q[:, at] * found.vectors).sum(0).abs(), torch.ones(len(at)).double())


def test_one_negative_direction_among_many_is_found():
    rng = np.random.default_rng(1)
    values = torch.ones(400, dtype=torch.float64)
    values[7] = -0.01
    loss, _ = quadratic(values, rng)
    found = curvature.extreme_eigenvalues(loss, normal(rng, 400))
    assert float(found.values) == pytest.approx(-0.01, abs=1e-8)


def test_lanczos_agrees_with_the_dense_hessian_of_a_network():
    rng = np.random.default_rng(4)
    loss = autoencoder(normal(rng, 9, 20))
    point = [normal(rng, 5, 9), normal(rng, 9, 5)]
    exact = torch.linalg.eigvalsh(curvature.dense_hessian(loss, point))
    found = curvature.extreme_eigenvalues(loss, point, count=2, end="both", tolerance=1e-9)
    ends = torch.cat([exact[:2], exact[-2:]])
    assert torch.allclose(found.values, ends, atol=1e-5 * float(exact[-1]))


def test_same_seed_same_answer_and_the_point_is_left_alone():
    rng = np.random.default_rng(5)
    loss, point = autoencoder(normal(rng, 9, 20)), [normal(rng, 5, 9), normal(rng, 9, 5)]
    before = [p.clone() for p in point]
    one, two = (curvature.extreme_eigenvalues(loss, point, seed=3) for _ in range(2))
    assert torch.equal(one.values, two.values)
    assert all(
        torch.equal(a, b) and not b.requires_grad for a, b in zip(before, point, strict=True)
    )


def test_a_dead_network_is_flat():
    X = torch.rand(3, 5, dtype=torch.float64) + 0.1
    point = [-torch.ones(2, 3).double(), torch.ones(3, 2).double()]
    assert float(curvature.gradient(autoencoder(X), point).abs().max()) == 0
    assert float(curvature.dense_hessian(autoencoder(X), point).abs().max()) == 0


def test_a_part_without_influence_and_a_linear_loss():
    a, b = torch.ones(2).double(), torch.ones(1).double()
    H = curvature.dense_hessian(lambda x, y: (x**2).sum(), [a, b])
    assert torch.equal(H, torch.diag(torch.tensor([2.0, 2.0, 0.0]).double()))
    assert float(curvature.dense_hessian(lambda x: x.sum(), a).abs().max()) == 0


def test_refusals():
    x = torch.ones(3).double()
    with pytest.raises(ValueError, match="one number"):
        curvature.gradient(lambda v: v, x)
    with pytest.raises(ValueError, match="finite"):
        curvature.gradient(lambda v: v.sum() / 0, x)
    with pytest.raises(ValueError, match="floating-point"):
        curvature.gradient(lambda v: v.sum(), torch.ones(2, dtype=torch.int64))
    with pytest.raises(ValueError, match="shape"):
        curvature.hessian_vector_product(lambda v: (v**2).sum(), x)(torch.ones(2).double())
    with pytest.raises(ValueError, match="end"):
        curvature.extreme_eigenvalues(lambda v: (v**2).sum(), x, end="middle")
    slow = torch.linspace(0, 1, 300, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="restarts"):
        curvature.extreme_eigenvalues(
            lambda v: (slow * v**2).sum(), torch.ones(300).double(), tolerance=1e-14, iterations=1
        )
