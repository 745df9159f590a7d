"""Duals, their series and random features: against quadrature, moments and each other."""

from math import comb, factorial, inf

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import kernels
from scipy import integrate, stats

SMOOTH = {
    "identity": lambda t: t,
    "square": np.square,
    "exponential": np.exp,
    "sin": np.sin,
    "cos": np.cos,
}
KINKED = {
    "relu": lambda t: np.maximum(t, 0),
    "relu_squared": lambda t: np.maximum(t, 0) ** 2,
    "step": lambda t: (t > 0).astype(float),
    "abs": np.abs,
    "sign": np.sign,
}
SERIES = [name for name in kernels.ACTIVATIONS if name != "relu_squared"]
cosine = st.floats(-1, 1)
inner = st.floats(-0.9, 0.9)


@given(cosine)
@settings(max_examples=30, deadline=None)
def test_closed_forms_agree_with_quadrature(rho):
    for name, function in SMOOTH.items():
        assert kernels.dual_by_quadrature(function, rho) == pytest.approx(
            kernels.dual(name)(rho), abs=1e-10
        )
    for name, function in KINKED.items():
        found = kernels.dual_by_quadrature(function, rho, kink=True)
        assert found == pytest.approx(kernels.dual(name)(rho), abs=1e-10)


def test_quadrature_agrees_with_scipy():
    rho = 0.3
    joint = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    for name in ("relu", "relu_squared"):
        f = KINKED[name]
        value, _ = integrate.dblquad(
            lambda y, x, f=f: f(x) * f(y) * joint.pdf([x, y]), 0, 8, 0, 8, epsabs=1e-7
        )
        assert value == pytest.approx(kernels.dual(name)(rho), abs=1e-5)


def test_erf_by_quadrature():
    from scipy.special import erf

    rho = np.linspace(-1, 1, 9)
    found = kernels.dual_by_quadrature(erf, rho, nodes=120)
    assert np.allclose(found, kernels.dual("erf")(rho), atol=1e-10)


@pytest.mark.parametrize("name", SERIES)
@given(rho=inner)
@settings(max_examples=20, deadline=None)
def test_series_sum_to_the_dual(name, rho):
    for bias in (False, True):
        order = 30 if kernels.ACTIVATIONS[name].arc is None else 400
        q = kernels.power_series(name, order, bias=bias)
        wanted = kernels.dual(name)((1 + rho) / 2 if bias else rho)
        assert np.polyval(q[::-1], rho) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("bias", [False, True])
def test_exact_series_are_the_derivatives(name, bias):
    t = sympy.Symbol("t")
    at = (1 + t) / 2 if bias else t
    root = sympy.sqrt(1 - at**2)
    forms = {
        "relu": (root + (sympy.pi - sympy.acos(at)) * at) / (2 * sympy.pi),
        "step": (sympy.pi - sympy.acos(at)) / (2 * sympy.pi),
        "abs": 2 / sympy.pi * (root + at * sympy.asin(at)),
        "sign": 2 / sympy.pi * sympy.asin(at),
        "identity": at,
        "square": 1 + 2 * at**2,
        "exponential": sympy.exp(1 + at),
        "sin": sympy.sinh(at) / sympy.E,
        "cos": sympy.cosh(at) / sympy.E,
        "erf": 2 / sympy.pi * sympy.asin(2 * at / 3),
    }
    exact = kernels.power_series(name, 6, bias=bias, exact=True)
    for k, value in enumerate(exact):
        wanted = sympy.diff(forms[name], t, k).subs(t, 0) / factorial(k)
        assert sympy.simplify(value - wanted) == 0
    assert np.allclose([float(c) for c in exact], kernels.power_series(name, 6, bias=bias))


def test_bias_is_a_binomial_sum():
    q = kernels.power_series("relu", 3000)
    shifted = kernels.power_series("relu", 8, bias=True)
    for i in range(9):
        total = sum(q[j] * comb(j, i) / 2**j for j in range(i, 1000))
        assert total == pytest.approx(shifted[i], rel=1e-12)


def test_relu_has_no_odd_degrees_above_one_without_bias():
    q = kernels.power_series("relu", 21, exact=True)
    assert all(c == 0 for c in q[3::2]) and all(c > 0 for c in [*q[:3], *q[4::2]])
    assert all(c > 0 for c in kernels.power_series("relu", 21, bias=True))


@given(st.integers(0, 2**31), st.booleans(), st.sampled_from(["relu", "step", "abs"]))
@settings(max_examples=20, deadline=None)
def test_gram_is_positive_and_scales(seed, bias, name):
    X = torch.from_numpy(np.random.default_rng(seed).standard_normal((3, 7)))
    K = kernels.gram(X, activation=name, bias=bias)
    assert torch.linalg.eigvalsh(K).min() > -1e-12 and torch.allclose(K, K.mT)
    if not bias:
        degree = kernels.ACTIVATIONS[name].degree
        assert torch.allclose(kernels.gram(3 * X, activation=name), 9**degree * K)
    assert torch.equal(kernels.gram(X, X[:, :2], activation=name, bias=bias), K[:, :2])


def test_features_have_the_gram_matrix_as_their_mean_and_the_stated_variance():
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.standard_normal((3, 4)))
    X = X / X.norm(dim=0)
    width, trials = 40, 4000
    for bias in (False, True):
        Z = kernels.random_features(X, width, seed=1, bias=bias, trials=trials)
        G = Z.mT @ Z
        rho = X.mT @ X
        rho = (1 + rho) / 2 if bias else rho
        variance = kernels.feature_variance(rho.clamp(-1, 1)) / width
        z = (G.mean(0) - kernels.gram(X, bias=bias)) / (variance / trials).sqrt()
        assert z.abs().max() < 5
        assert torch.allclose(G.var(0), variance, rtol=0.15)


def test_features_of_every_activation_have_their_gram_matrix_as_mean():
    X = torch.tensor([[1.0, 0.6, -0.8], [0.0, 0.8, 0.6]], dtype=torch.float64)
    for name in kernels.ACTIVATIONS:
        Z = kernels.random_features(X, 50_000, seed=2, activation=name)
        parts = 50_000 * Z[:, :, None] * Z[:, None, :]
        error = (parts.mean(0) - kernels.gram(X, activation=name)).abs()
        assert (error <= 5 * parts.std(0) / 50_000**0.5 + 1e-12).all(), name


def test_a_trial_alone_is_the_trial_in_a_batch_and_relu_features_are_the_layer():
    X = torch.eye(3, dtype=torch.float64)
    many = kernels.random_features(X, 6, seed=4, trials=3)
    assert torch.equal(many[0], kernels.random_features(X, 6, seed=4))
    assert torch.equal(many[:2], kernels.random_features(X, 6, seed=4, trials=2))
    C = kernels.random_layer(6, 3, seed=4)
    assert torch.allclose(many[0], (C @ X).clamp_min(0))


def test_q_norm_in_exact_arithmetic():
    assert kernels.q_norm({(0, 0): 1}, bias=False, exact=True) == sympy.sqrt(2 * sympy.pi)
    assert kernels.q_norm({(1, 0): 2}, bias=False, exact=True) == 4
    square = kernels.q_norm({(1, 1): 1}, bias=False, exact=True)
    assert sympy.simplify(square**2 - 2 * sympy.pi) == 0
    assert kernels.q_norm({(3, 0): 1}, bias=False) == inf
    assert kernels.q_norm({(3, 0): 0, (1, 0): 2}, bias=False) == pytest.approx(4)


@given(st.integers(1, 9), st.floats(-2, 2), st.floats(-2, 2))
@settings(max_examples=30, deadline=None)
def test_a_power_of_a_linear_form_has_one_norm_in_all_coordinates(k, a, b):
    expanded = {(i, k - i): comb(k, i) * a**i * b ** (k - i) for i in range(k + 1)}
    q = kernels.power_series("relu", k, bias=True)[k]
    length = np.hypot(a, b)
    assert kernels.q_norm(expanded) == pytest.approx(length**k / q**0.5, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_sphere_series_against_quadrature(dimension, bias):
    from scipy.special import eval_chebyt, eval_gegenbauer

    t, w = np.polynomial.legendre.leggauss(400)
    theta = np.pi * (t + 1) / 2
    weight = w * np.sin(theta) ** (dimension - 2)
    rho = np.cos(theta)
    K = kernels.dual("relu")((1 + rho) / 2 if bias else rho)
    kappa = kernels.sphere_series("relu", dimension, 30, bias=bias)
    for k in (*range(7), 15, 30):
        P = (
            eval_chebyt(k, rho)
            if dimension == 2
            else eval_gegenbauer(k, dimension / 2 - 1, rho)
            / eval_gegenbauer(k, dimension / 2 - 1, 1.0)
        )
        wanted = (weight * K * P).sum() / (weight * P * P).sum()
        assert kappa[k] == pytest.approx(wanted, rel=1e-5, abs=1e-11)


def test_sphere_series_on_the_circle_in_closed_form():
    kappa = kernels.sphere_series("relu", 2, 512)
    even = np.arange(2, 513, 2)
    assert np.allclose(kappa[even], 4 / (np.pi * (even**2 - 1)) ** 2, rtol=1e-6)


def test_ridge_norm_is_the_limit_of_interpolation_norms():
    angle = 2 * np.pi * np.arange(60) / 60
    X = torch.from_numpy(np.stack([np.cos(angle), np.sin(angle)]))
    K = kernels.gram(X, bias=True)
    for k in (0, 1, 2, 5):
        f = X[0] ** k
        least = float((f @ torch.linalg.solve(K, f)) ** 0.5)
        whole = kernels.ridge_norm(np.eye(k + 1)[k], 2)
        assert least <= whole * (1 + 1e-6) and least > 0.999 * whole
        assert whole <= kernels.q_norm({(k, 0): 1}) * (1 + 1e-9)


def test_ridge_norm_tends_to_the_coefficient_norm():
    whole = kernels.q_norm({(4,): 1})
    norms = [kernels.ridge_norm([0, 0, 0, 0, 1], d) for d in (2, 10, 100, 10**4)]
    assert norms == sorted(norms) and norms[-1] == pytest.approx(whole, rel=1e-2)
    assert kernels.ridge_norm([0, 0, 0, 1], 3, bias=False) == inf
    many = kernels.ridge_norm([[1, 0, 0, 0], [0, 0, 0, 1]], 3, bias=False)
    assert many.tolist() == [kernels.ridge_norm([1.0], 3, bias=False), inf]


def test_length_tail_against_sampling_and_moments():
    rng = np.random.default_rng(0)
    squares = (np.maximum(rng.standard_normal((200_000, 7)), 0) ** 2).mean(1)
    for level in (0.0, 0.1, 0.5, 1.3):
        share = float((squares > level).mean())
        assert kernels.length_tail(7, level) == pytest.approx(share, abs=0.006)
    for width in (1, 7, 5000):
        grid = np.linspace(0, 0.5 + 40 / width**0.5, 40001)
        tail = kernels.length_tail(width, grid)
        assert integrate.trapezoid(tail, grid) == pytest.approx(0.5, rel=1e-4)
        second = integrate.trapezoid(2 * grid * tail, grid)
        assert second - 0.25 == pytest.approx(1.25 / width, rel=1e-2)


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_rotation_error_is_least(seed, rows, columns):
    rng = np.random.default_rng(seed)
    Z, Y = (torch.from_numpy(rng.standard_normal((rows, columns))) for _ in range(2))
    least = kernels.rotation_error(Z, Y.mT @ Y)
    assert least <= torch.linalg.matrix_norm(Z - Y) + 1e-9
    Q = torch.linalg.qr(torch.from_numpy(rng.standard_normal((rows, rows)))).Q
    assert torch.allclose(kernels.rotation_error(Q @ Z, Y.mT @ Y), least, atol=1e-9)
    assert kernels.rotation_error(Q @ Y, Y.mT @ Y) < 1e-6
    nuclear = torch.linalg.matrix_norm(Z @ Y.mT, "nuc")
    assert least**2 == pytest.approx(float((Z**2).sum() + (Y**2).sum() - 2 * nuclear), abs=1e-9)


def test_square_root_squares():
    A = torch.from_numpy(np.random.default_rng(1).standard_normal((3, 4, 2)))
    K = A @ A.mT
    root = kernels.square_root(K)
    assert torch.allclose(root @ root, K) and torch.allclose(root, root.mT)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: kernels.dual("swish"), "'swish'"),
        (lambda: kernels.dual("relu")(1.1), "between -1 and 1"),
        (lambda: kernels.arc_cosine(3, 0.0), "order"),
        (lambda: kernels.power_series("relu_squared", 3), "no power series"),
        (lambda: kernels.power_series("relu", -1), "order"),
        (lambda: kernels.gram([[0.0], [0.0]]), "not zero"),
        (lambda: kernels.gram([[2.0], [0.0]], activation="sin"), "length one"),
        (lambda: kernels.gram([[1.0]], [[1.0], [0.0]]), "one dimension"),
        (lambda: kernels.random_features(torch.ones(2, 2, 2), 3, seed=0), "one matrix"),
        (lambda: kernels.random_layer(0, 2, seed=0), "width"),
        (lambda: kernels.rotation_error(torch.ones(3, 2), torch.ones(3, 3)), "shapes"),
        (lambda: kernels.length_tail(0, 1.0), "width"),
        (lambda: kernels.q_norm({}), "polynomial"),
        (lambda: kernels.q_norm({(1,): 1, (1, 2): 1}), "one length"),
        (lambda: kernels.q_norm({(-1,): 1}), "exponent"),
        (lambda: kernels.ridge_norm([1.0], 1), "dimension"),
    ],
)
def test_refuses(call, said):
    with pytest.raises(ValueError, match=said):
        call()
