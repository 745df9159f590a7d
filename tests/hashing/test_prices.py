"""Prices of functions: closed forms, bounds between norms, and polynomials against numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import kernels, polynomials, prices, products

EXPONENTS = st.tuples(st.integers(0, 2), st.integers(0, 2))
POLYNOMIAL = st.dictionaries(EXPONENTS, st.floats(-3, 3), min_size=1, max_size=4)


def evaluate(g, x, y):
    return sum(v * x ** J[0] * y ** J[1] for J, v in g.items())


@settings(max_examples=30, deadline=None)
@given(POLYNOMIAL, POLYNOMIAL, st.floats(-1, 1), st.floats(-1, 1))
def test_sums_and_products_are_those_of_the_functions(f, g, x, y):
    total, times = polynomials.add(f, g), polynomials.multiply(f, g)
    assert evaluate(total, x, y) == pytest.approx(evaluate(f, x, y) + evaluate(g, x, y), abs=1e-9)
    assert evaluate(times, x, y) == pytest.approx(evaluate(f, x, y) * evaluate(g, x, y), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(POLYNOMIAL)
def test_the_norm_is_below_the_sum_over_monomials(f):
    q = kernels.power_series("relu", 8, bias=True)
    assert kernels.q_norm(f) <= polynomials.qs(f, q) * (1 + 1e-9)
    assert polynomials.qu(f) == pytest.approx(polynomials.qu(polynomials.absolute(f)))


def test_a_power_of_a_sum_is_bounded_as_corollary_28_says():
    case = polynomials.random_powers(30, np.random.default_rng(0))
    assert bool((case["qu"] <= (case["c"] + 1) * (case["s"] * case["M"]) ** case["c"] + 1e-9).all())
    assert bool((case["M"] <= case["M2"]).all())


def test_products_have_the_values_and_sizes_of_their_forms():
    rng = np.random.default_rng(0)
    g = products.random_products(3, rng, inputs=2)
    x = torch.from_numpy(rng.standard_normal((2, 4)))
    direct = g["constant"][:, None] + sum(
        g[f"a{k}"][:, v, None] * torch.stack([g[f"B{k}"][:, v, i] @ x for i in range(k)]).prod(0)
        for k in range(1, products.TOP + 1)
        for v in range(2)
    )
    torch.testing.assert_close(products.at(g, x), direct)
    tilde, square = products.sizes(g)
    assert bool((square.sqrt() <= tilde + 1e-12).all())  # symmetrizing shortens


def test_the_inner_product_is_that_of_symmetric_tensors():
    rng = np.random.default_rng(1)
    B, C = (torch.from_numpy(rng.standard_normal((2, 3))) for _ in range(2))
    first, second = ((torch.outer(*rows) + torch.outer(*rows.flip(0))) / 2 for rows in (B, C))
    torch.testing.assert_close(products.inner(B, C), (first * second).sum())


def test_remark_1_is_the_series_of_its_function():
    y = 0.7
    value = prices.remark_1() @ y ** np.arange(40)
    assert value == pytest.approx(math.exp(y) * math.sin(y) + math.cos(y), rel=1e-12)


def test_powers_cost_what_the_theorem_allows():
    found = prices.powers(32, (2, 50))
    for norms in found.least.values():
        assert bool((norms >= 2**0.5 * (1 - 1e-9)).all())
        assert bool((norms <= found.limit * (1 + 1e-6)).all())
    assert bool((found.limit <= prices.PRICE * found.degrees**1.25).all())
    assert prices.powers(32, [2, 50]) is found


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_bounded_fit_is_the_best_of_its_length(share):
    rng = np.random.default_rng(2)
    Z = torch.from_numpy(rng.standard_normal((3, 6)))
    f = torch.from_numpy(rng.standard_normal(6))
    free = torch.linalg.lstsq(Z.mT, f).solution
    exact = float((Z.mT @ free - f).abs().max())
    assert prices.bounded_fit(Z, f, 2 * float(free.norm())) == pytest.approx(exact)
    lam = 1.0  # the ridge solution is the least-squares one of its own length
    a = torch.linalg.solve(Z @ Z.mT + lam * torch.eye(3).double(), Z @ f)
    ridge = float((Z.mT @ a - f).abs().max())
    assert prices.bounded_fit(Z, f, float(a.norm())) == pytest.approx(ridge, rel=1e-6)
    short = prices.bounded_fit(Z, f, share * float(a.norm()))
    assert short != pytest.approx(exact)
