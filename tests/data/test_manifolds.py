"""Manifolds: the maps against their formulas, held-out parts, separation, norms, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.data import manifolds
from lowdim.data.manifolds import AnalyticFamily

LINEAR = manifolds.LinearFamily(ambient=9, s=3, k=2)
SIZE = {"m": 5, "n": 4}


def test_a_linear_manifold_is_an_affine_piece_of_its_own_plane():
    D = replace(LINEAR, theta="gaussian", spread=0.7).draw(m=5, n=40)
    P, Q = D.V[0], D.W[0]
    torch.testing.assert_close(D.X, (D.gamma @ P.mT)[:, None] + D.theta @ Q.mT)
    centred = D.X - D.X.mean(1, keepdim=True)
    assert torch.linalg.matrix_rank(centred).tolist() == [2] * 5
    assert (P.mT @ Q).abs().max() < 1e-14
    torch.testing.assert_close(P.mT @ P, torch.eye(3).double() / 1.49)
    torch.testing.assert_close(Q.mT @ Q, torch.eye(2).double() * 0.49 / 1.49)


@pytest.mark.parametrize("spread", [0.0, 0.3, 5.0])
def test_linear_points_and_gamma_lie_on_their_spheres(spread):
    D = replace(LINEAR, spread=spread).draw(**SIZE)
    one = torch.ones(5, 4, dtype=torch.float64)
    torch.testing.assert_close(D.X.norm(dim=-1), one)
    torch.testing.assert_close(D.gamma.norm(dim=-1), one[:, 0])
    torch.testing.assert_close(D.theta.norm(dim=-1), one)
    ratio = (D.theta @ D.W[0].mT).norm(dim=-1) / (D.gamma @ D.V[0].mT).norm(dim=-1)[:, None]
    torch.testing.assert_close(ratio, spread * one)


def test_ranges_that_overlap_are_not_orthogonal():
    D = replace(LINEAR, orthogonal=False, ambient=4).draw(**SIZE)
    assert (D.V[0].mT @ D.W[0]).abs().max() > 0.01


def test_each_family_is_its_formula_entry_by_entry():
    formula = {
        "sine": math.sin,
        "cosine": math.cos,
        "log": lambda x: math.log(0.5 * (1 + x**2)),
        "exp": lambda x: math.exp(0.5 * x),
        "half-exp": lambda x: 0.5 * math.exp(x),
    }
    for family in manifolds.FAMILIES:
        made = AnalyticFamily(family, ambient=4, s=3, k=2, terms=8, weight_scale=1.0)
        D = made.draw(m=2, n=3)
        turn = [*list(formula)[:4], *list(formula)[:4]] if family == "mixture" else [family] * 8
        value = sum(
            formula[name](float(D.V[i, 3] @ D.gamma[1] + D.W[i, 3] @ D.theta[1, 2]))
            for i, name in enumerate(turn)
        )
        assert D.X[1, 2, 3].item() == pytest.approx(value)


@pytest.mark.parametrize("family", ["cosine", "log"])
def test_even_families_cannot_tell_gamma_from_its_opposite(family):
    D = AnalyticFamily(family, ambient=6).draw(m=3, n=4)
    torch.testing.assert_close(D.at(-D.gamma[:, None], -D.theta), D.X)


def test_the_sine_family_is_odd_and_the_exponential_positive():
    D = AnalyticFamily("sine", ambient=6).draw(m=3, n=4)
    torch.testing.assert_close(D.at(-D.gamma[:, None], -D.theta), -D.X)
    assert AnalyticFamily("exp", ambient=6).draw(m=3, n=4).X.min() > 0


def test_scales_of_the_experiments():
    # 11 × 400 × 4 draws: the standard error of a second moment is about 1 %
    D = AnalyticFamily("sine", ambient=500).draw(m=400, n=4)
    assert D.gamma.square().mean().item() == pytest.approx(1, rel=0.06)
    assert D.theta.square().mean().item() == pytest.approx(1 / 11, rel=0.04)
    assert D.V.square().mean().item() == pytest.approx(1 / 500, rel=0.04)
    twice = AnalyticFamily("sine", ambient=500, gamma_scale=2.0).draw(m=400, n=4)
    assert torch.equal(twice.gamma, 2 * D.gamma)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(-(2**40), 2**40), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3),
    st.integers(0, 3), st.booleans(),
)  # fmt: skip
def test_held_out_parts_are_windows_of_one_family(seed, m, n, manifold, point, linear):
    if linear:
        family = manifolds.LinearFamily(ambient=7, tau=0.9, seed=seed)
    else:
        family = AnalyticFamily("mixture", ambient=7, seed=seed)
    whole = family.draw(m=8, n=8)
    part = family.draw(m=m, n=n, first_manifold=manifold, first_point=point)
    window = slice(manifold, manifold + m), slice(point, point + n)
    torch.testing.assert_close(part.X, whole.X[window], rtol=1e-13, atol=1e-13)
    assert torch.equal(part.gamma, whole.gamma[window[0]])
    assert torch.equal(part.theta, whole.theta[window])
    assert torch.equal(part.V, whole.V)


def test_trials_and_seeds_differ_and_single_precision_is_the_rounded_double():
    family = AnalyticFamily("exp", ambient=5)
    base = family.draw(m=3, n=2)
    for change in ({"seed": 1}, {"trial": 1}, {"seed": -1}):
        other = replace(family, **change).draw(m=3, n=2)
        assert (base.gamma - other.gamma).abs().min() > 0
        assert (base.V - other.V).abs().min() > 0
    single = family.draw(m=3, n=2, dtype=torch.float32)
    assert torch.equal(single.X, base.X.float())


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 8), st.sampled_from([0.5, 0.9]), st.integers(0, 99))
def test_separated_points_are_separated_unit_vectors(s, tau, seed):
    points = manifolds.separated(6, s, tau=tau, seed=seed)
    assert manifolds.separation(points) <= tau
    torch.testing.assert_close(points.norm(dim=1), torch.ones(6, dtype=torch.float64))
    assert torch.equal(manifolds.separated(3, s, tau=tau, seed=seed), points[:3])


def test_what_does_not_fit_is_refused():
    # seven directions of the plane cannot all be 60° apart
    with pytest.raises(ValueError, match="draws in a row came closer than tau"):
        manifolds.separated(7, 2, tau=0.5)


def test_separation_is_the_largest_cosine_of_two_different_points():
    angles = torch.tensor([0.0, 1.0, 2.5], dtype=torch.float64)
    points = torch.stack([angles.cos(), angles.sin()], 1) * torch.tensor([[1.0], [2.0], [3.0]])
    assert manifolds.separation(points).item() == pytest.approx(math.cos(1.0))
    assert manifolds.separation(torch.stack([points, points])).shape == (2,)


def test_padding_keeps_inner_products_up_to_the_padded_coordinate():
    X = torch.randn(4, 3, generator=torch.manual_seed(1), dtype=torch.float64)
    Y = manifolds.on_sphere(X, radius=10.0)
    torch.testing.assert_close(Y[:, :3] * 10, X)
    torch.testing.assert_close(Y.norm(dim=1), torch.ones(4, dtype=torch.float64))
    D = AnalyticFamily("sine", ambient=5, norm="divide").draw(m=2, n=2)
    torch.testing.assert_close(D.X.norm(dim=-1), torch.ones(2, 2, dtype=torch.float64))


def test_labels_number_the_manifolds():
    D = LINEAR.draw(**SIZE)
    assert D.labels.tolist() == [[j] * 4 for j in range(5)]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LINEAR.draw(m=0, n=4), "you gave 0"),
        (lambda: replace(LINEAR, ambient=4), "ambient = 4"),
        (lambda: replace(LINEAR, spread=-1.0), "-1.0"),
        (lambda: replace(LINEAR, theta="cube"), "'cube'"),
        (lambda: replace(LINEAR, norm="l1"), "'l1'"),
        (lambda: AnalyticFamily("tan", ambient=1), "'tan'"),
        (lambda: AnalyticFamily("mixture", ambient=1, terms=6), "gave 6"),
        (lambda: AnalyticFamily("sine", ambient=1, tau=0.5), "sphere"),
        (lambda: AnalyticFamily("sine", ambient=1, gamma_scale=-2), "-2"),
        (lambda: manifolds.separated(3, 2, tau=1.0), "1.0"),
        (lambda: manifolds.separation([[1.0, 0.0]]), "(1, 2)"),
        (lambda: manifolds.separation([[1.0, 0.0], [0.0, 0.0]]), "zero"),
        (lambda: manifolds.on_sphere([[0.0, 0.0]]), "zero"),
        (lambda: manifolds.on_sphere([[3.0, 4.0]], radius=4.0), "you gave 4.0"),
    ],
)
def test_refusals_name_the_values(make, said):
    with pytest.raises(ValueError) as refusal:
        make()
    assert said in str(refusal.value)
