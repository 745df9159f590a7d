"""Noise: closed forms against integrals and exact arithmetic, SGD against descent and autograd."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import flows, noise
from scipy import stats
from scipy.integrate import quad


def moments(seed, d=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    return root @ root.T + 0.2 * np.eye(d), rng.standard_normal(d)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 3.0))
def test_blur_is_least_squares_on_noisy_points(seed, sigma):
    """A finite law whose noise has exactly the identity as its moments, by least squares."""
    rng = np.random.default_rng(seed)
    x, g = rng.standard_normal((7, 3)), rng.standard_normal(7)
    kicks = math.sqrt(3) * np.concatenate([np.eye(3), -np.eye(3)])  # mean 0, moments I
    seen = (x[:, None] + sigma * kicks).reshape(-1, 3)
    values = np.repeat(g, 6)
    w, *_ = np.linalg.lstsq(seen, values, rcond=None)
    blurred = noise.Blurred(x.T @ x / 7, x.T @ g / 7, float(g @ g) / 7)
    assert np.allclose(blurred.weights(sigma), w, atol=1e-7)
    assert blurred.residual(sigma) == pytest.approx(np.mean((seen @ w - values) ** 2), abs=1e-9)
    loss = lambda v: np.mean((x @ v - g) ** 2)  # noqa: E731
    wanted = loss(w) - loss(blurred.weights(0.0))
    assert blurred.clean_excess(sigma) == pytest.approx(wanted, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 2.0), st.floats(1.01, 2.0))
def test_more_noise_costs_accuracy_and_buys_stability(seed, sigma, more):
    Sigma, nu = moments(seed)
    fit = noise.Blurred(Sigma, Sigma @ nu, float(nu @ Sigma @ nu) + 0.3)
    assert fit.clean_excess(sigma) <= fit.clean_excess(more * sigma) + 1e-12
    assert fit.clean_excess(sigma) <= sigma**4 * nu @ np.linalg.solve(Sigma, nu) * (1 + 1e-9)
    assert fit.residual(sigma) / sigma**2 >= fit.residual(more * sigma) / (more * sigma) ** 2


def test_normal_square_is_the_mean_of_an_inverse_wishart():
    """E tr(ZᵀZ)⁻¹·‖r‖²/m for m = 6, by Monte Carlo; and exactly as a fraction."""
    rng = np.random.default_rng(0)
    Z, r = rng.standard_normal((40000, 10, 2)), np.eye(10)[0]
    w = np.linalg.solve(np.swapaxes(Z, 1, 2) @ Z, (np.swapaxes(Z, 1, 2) @ r)[..., None])[..., 0]
    measured = (w**2).sum(1) * 12  # τ_N² = 1/12 for N = 12, two other columns
    wanted = noise.normal_square(12, 2, 2)
    assert abs(measured.mean() - wanted) < 5 * measured.std() / 200
    assert wanted == float(Fraction(12 * 2, 10 * 7))
    assert noise.normal_square(5, 2, 2) == math.inf


@pytest.mark.parametrize("sigma", [0.05, 0.4, 2.0])
def test_the_conditional_mean_is_that_of_a_cut_normal(sigma):
    at = np.array([-1.2, -0.9, 0.0, 0.5, 1.0])
    cut = [stats.truncnorm((-1 - x) / sigma, (1 - x) / sigma, x, sigma).mean() for x in at]
    found = noise.conditional_mean(lambda x: x, at, sigma)[0]
    assert found.tolist() == pytest.approx(cut, abs=1e-9)
    constant = noise.conditional_mean(torch.ones_like, at, sigma)
    assert torch.allclose(constant, torch.ones_like(constant), atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(st.floats(-2, 2), st.floats(0.01, 3.0))
def test_smoothed_distance_against_an_integral(knot, sigma):
    def inner(x):
        z = x - knot
        return z * (2 * stats.norm.cdf(z / sigma) - 1) + 2 * sigma * stats.norm.pdf(z / sigma)

    places = [p for p in (knot - sigma, knot, knot + sigma) if -1 < p < 1] or None
    wanted = quad(inner, -1, 1, points=places)[0] / 2
    assert float(noise.smoothed_distance(knot, sigma)) == pytest.approx(wanted, abs=1e-7)


def small_problem(trials=2, depth=3):
    rng = np.random.default_rng(4)
    X = torch.from_numpy(rng.standard_normal((trials, 3, 12)))
    g = torch.from_numpy(rng.standard_normal((trials, 12)))
    shapes = [(4, 3), *[(4, 4)] * (depth - 2), (1, 4)]
    factors = [torch.from_numpy(0.5 * rng.standard_normal((trials, *s))) for s in shapes]
    return factors, X, g


def test_whole_batches_are_gradient_descent():
    factors, X, g = small_problem()
    end = noise.linear_sgd(factors, X, g, rates=[0.05] * 20, batch=12)
    for t in range(2):
        flow = flows.Flow.from_data(X[t].T.numpy(), g[t].numpy(), depth=3)
        _, _, wanted = flows.descend_factors(flow, [W[t] for W in factors], rate=0.05, steps=20)
        assert all(torch.allclose(W[t], V, atol=1e-12) for W, V in zip(end, wanted, strict=True))


def test_one_mini_batch_step_is_the_gradient_of_autograd():
    factors, X, g = small_problem(depth=4)
    order = noise.generator(7, 0, "orders").permutation(12)
    end = noise.linear_sgd(factors, X, g, rates=[0.1], batch=5, seed=7)
    W = [w.clone().requires_grad_(True) for w in factors]
    for pick in (order[:5], order[5:10], order[10:]):
        out = X[..., pick]
        for w in W:
            out = w @ out
        loss = ((out[:, 0] - g[:, pick]) ** 2).mean(1).sum() / 2
        grads = torch.autograd.grad(loss, W)
        W = [(w - 0.1 * d).detach().requires_grad_(True) for w, d in zip(W, grads, strict=True)]
    assert all(torch.allclose(w, v, atol=1e-12) for w, v in zip(W, end, strict=True))


def test_a_trial_alone_and_among_others():
    factors, X, g = small_problem()
    both = noise.linear_sgd(factors, X, g, rates=[0.05] * 4, batch=5)
    alone = noise.linear_sgd([W[1:] for W in factors], X[1:], g[1:], rates=[0.05] * 4, batch=5)
    assert all(torch.allclose(W[1:], V, atol=1e-13) for W, V in zip(both, alone, strict=True))


@pytest.mark.parametrize("change", [{"batch": 13}, {"batch": 0}, {"rates": [1e6] * 30}])
def test_linear_sgd_refuses(change):
    factors, X, g = small_problem()
    with pytest.raises(ValueError, match=r"batch|diverged"):
        noise.linear_sgd(factors, X, g, **({"rates": [0.1], "batch": 4} | change))


def sines(x):
    return torch.sin(torch.pi * x).sum(-2, keepdim=True)


def trained(depth, settings, *, start=1.0, **data):
    inputs = noise.noisy_inputs(settings, sines, nets=2, points=40, **data)
    return noise.train_noisy(inputs, depth, width=6, epochs=4, batch=10, rate=0.05, start=start)


def test_padding_is_not_seen():
    """A setting with one direction is the same whatever stands beside it."""
    alone = trained(3, [(0.5, 1)])
    beside = trained(3, [(0.5, 1), (0.5, 4)])
    assert torch.allclose(alone.loss[0], beside.loss[0], rtol=1e-5)
    assert bool((beside.weights[0][0][:2, :, 4:] == 1).all())  # padded columns never move
    for a, b in zip(alone.weights[1], beside.weights[1], strict=True):
        assert torch.allclose(a, b[:2], atol=1e-6)


def test_no_noise_moves_no_normal_weight_and_noise_does():
    run = trained(2, [(0.0, 2), (0.5, 2)], start=0.7)
    normal = run.weights[0][0][..., 3:]
    assert bool((normal[:2] == 0.7).all()) and bool((normal[2:] != 0.7).all())


def test_noise_everywhere_is_noise_in_x_too():
    plain = trained(2, [(0.0, 1), (0.5, 1)])
    blurred = trained(2, [(0.0, 1), (0.5, 1)], everywhere=True)
    assert torch.equal(plain.loss[0], blurred.loss[0])
    assert not torch.equal(plain.loss[1], blurred.loss[1])


def test_parts_are_what_they_say():
    run = trained(2, [(0.3, 1), (0.3, 3)])
    miss, change = run.parts(0.5, 50, seed=1)
    assert miss.shape == change.shape == (2, 2, 50)
    assert torch.allclose(run.stability(0.5, 50, seed=1), (change**2).mean(-1))
    assert bool((run.parts(0.0, 50, seed=1)[1] == 0).all())
    rng = noise.generator(1, 0, "stability")
    x = rng.uniform(-1, 1, (3, 50))
    y = 0.5 * rng.standard_normal((3, 50))
    W = [(w[3].double().numpy(), b[3].double().numpy()) for w, b in run.weights]  # last network
    f = lambda z: (W[1][0] @ np.maximum(W[0][0] @ z + W[0][1], 0) + W[1][1])[0]  # noqa: E731
    off, on = f(np.concatenate([x, y])), f(np.concatenate([x, 0 * y]))
    assert np.allclose(change[1, 1], off - on, atol=1e-5)
    assert np.allclose(miss[1, 1], on - np.sin(np.pi * x).sum(0), atol=1e-5)


@pytest.mark.parametrize("bad", [[], [(-0.1, 1)], [(0.1, 0)]])
def test_settings_are_checked(bad):
    with pytest.raises(ValueError, match="settings must be pairs"):
        trained(2, bad)


def test_shapes_and_signs_are_checked():
    with pytest.raises(ValueError, match="shapes are"):
        noise.Blurred(np.eye(2), np.ones(3), 1.0)
    with pytest.raises(ValueError, match="positive definite"):
        noise.Blurred(np.zeros((1, 1)), np.ones(1), 1.0)
    with pytest.raises(ValueError, match="above 0"):
        noise.conditional_mean(torch.sin, [0.0], 0.0)
