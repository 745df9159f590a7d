"""Ground truths: closed forms, codes by their inner products, and norms against what they bound."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lowdim.hashing import factored, kernels, separation, truths
from lowdim.seeds import generator

SMALL = truths.Data(classes=4, points=3, latent=3, place=2, seed=1)


def names(m: int, s: int) -> torch.Tensor:
    gamma = torch.from_numpy(generator(0, 0, "names").standard_normal((m, s)))
    return gamma / gamma.norm(dim=-1, keepdim=True)


def test_points_have_unit_length_and_show_their_names() -> None:
    X, labels, gamma = SMALL.draw()
    assert torch.allclose(X.norm(dim=0), torch.ones(12).double())
    inner = (gamma @ gamma.mT).fill_diagonal_(-1)
    assert inner.max() <= 0.5
    # γ is linear in x with c² = 2: the part of x that γ sees has half of its squared length
    names_of = gamma[labels].mT
    linear = names_of @ torch.linalg.pinv(X)
    assert torch.allclose(linear @ X, names_of, atol=1e-9)
    assert torch.allclose(torch.linalg.svdvals(linear), torch.full((3,), 2.0**0.5).double())


def test_new_points_and_new_manifolds_are_others() -> None:
    first = SMALL.draw()
    more = truths.Data(classes=4, points=6, latent=3, place=2, seed=1).draw()
    fresh = SMALL.draw(first_point=3)
    assert torch.equal(fresh.gamma, first.gamma)
    stacked = more.X.mT.reshape(4, 6, -1)
    assert torch.allclose(stacked[:, 3:].flatten(0, 1).mT, fresh.X)
    assert not torch.allclose(SMALL.draw(first_manifold=4).gamma, first.gamma)


def test_features_have_the_kernel_as_gram_matrix() -> None:
    sample = SMALL.draw()
    Z = sample.features
    assert torch.allclose(Z.mT @ Z, kernels.gram(sample.X, bias=True), atol=1e-10)


@given(st.floats(1e-6, 0.49), st.floats(0.05, 0.95))
def test_the_degree_is_the_least_that_does(eps: float, base: float) -> None:
    p = int(truths.degree(eps, base))
    goal = (2 * eps) ** 0.5
    assert base**p <= goal * (1 + 1e-9)
    assert p == 1 or base ** (p - 1) > goal * (1 - 1e-9)


def test_degrees_of_a_batch_are_those_alone() -> None:
    eps, base = torch.tensor([0.3, 0.01, 1e-4]), torch.tensor([0.9, 0.5, 0.75])
    alone = [float(truths.degree(float(e), float(b))) for e, b in zip(eps, base, strict=True)]
    assert truths.degree(eps, base).tolist() == alone


def test_an_exact_power_needs_no_more() -> None:
    assert int(truths.degree(0.5 * 0.75**8, 0.75)) == 4


@pytest.mark.parametrize(("eps", "base"), [(0.0, 0.5), (0.1, 1.0), (0.1, 0.0)])
def test_what_has_no_degree_is_refused(eps: float, base: float) -> None:
    with pytest.raises(ValueError, match="bases between 0 and 1"):
        truths.degree(eps, base)


@pytest.mark.parametrize("p", [1, 2, 4])
def test_codes_have_the_inner_products_asked_for(p: int) -> None:
    gamma = names(5, 3)
    psi = truths.code(gamma, p)
    assert psi.shape == (5, 4**p)
    assert torch.allclose(psi @ psi.mT, ((1 + gamma @ gamma.mT) / 2) ** p)


def test_the_printed_norm_is_a_sum_over_monomials() -> None:
    p, norm, bound = truths.printed_norm(0.1, 3, 0.5)
    q = float(kernels.power_series("relu", p, bias=True)[p])
    # p = 2 in three variables: six monomials, each with c^{2p}/q_p
    assert (p, comb(4, 2)) == (2, 6)
    assert norm == pytest.approx(6 * 4 / q)
    assert bound == pytest.approx(4 * (2 * 9) ** 2)


def test_the_simple_bound_is_above_the_sum() -> None:
    for eps in (0.3, 0.05, 0.001):
        for s in (2, 5):
            price = truths.repaired_norm(eps, s, 0.5)
            assert price.norm < price.bound


def test_the_least_norm_is_below_that_of_any_network_with_the_loss() -> None:
    sample = SMALL.draw()
    Z, m = sample.features, 4
    A, B = torch.eye(m).double(), torch.linalg.lstsq(Z.mT, torch.eye(m).double()[sample.labels])
    B = 0.8 * B.solution.mT
    loss = float(factored.weighted_loss(A @ B @ Z, sample.labels))
    assert truths.least_norm(Z, sample.labels, loss) <= float(B.square().sum()) * (1 + 1e-3)


def test_less_loss_needs_more_norm_and_curves_are_kept() -> None:
    found = truths.norms(SMALL, (0.2, 0.05, 0.01))
    assert all((np.diff(curve) >= 0).all() for curve in found.values())
    assert (found["needed on the data"] < found["the paper's $B^*$"]).all()
    assert truths.norms(SMALL, (0.2, 0.05, 0.01)) is found


def test_norms_need_a_separation() -> None:
    with pytest.raises(ValueError, match="this data has none"):
        truths.norms(truths.Data(tau=None))


def test_a_perfect_code_hashes_perfectly() -> None:
    sample = SMALL.draw()
    psi = truths.code(sample.gamma, 4)
    r = psi[sample.labels].mT
    stack = psi[:, None].expand(4, 3, -1)
    loss, fresh, inside, largest, least = truths.hashing(psi, sample.labels, r, 0 * r, stack)
    G = (psi @ psi.mT).numpy()
    other = (G**2).sum() - (np.diag(G) ** 2).sum()
    assert loss == pytest.approx(other / (2 * 4 * 3))
    assert fresh == pytest.approx(0.5)
    assert inside == pytest.approx(0, abs=1e-12) and largest == pytest.approx(0, abs=1e-12)
    assert least == pytest.approx(2 - 2 * np.max(G - 2 * np.eye(4)))
    assert separation.inter(stack).shape == (4, 4)
