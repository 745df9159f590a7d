"""Hashing: distances against brute force and scipy, readings of ρ, the table, recovery."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import separation
from scipy.spatial.distance import cdist, pdist


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def test_distances_agree_with_scipy():
    R = draw(3, 5, 4)
    for squared, metric in ((True, "sqeuclidean"), (False, "euclidean")):
        table = separation.inter(R, squared=squared)
        for i, j in product(range(3), repeat=2):
            pairs = pdist(R[i], metric) if i == j else cdist(R[i], R[j], metric)
            assert table[i, j].item() == pytest.approx(pairs.mean())
    variance = [np.var(R[i].numpy(), axis=0).sum() for i in range(3)]
    np.testing.assert_allclose(separation.intra(R), variance)


def test_the_unbiased_variance_is_half_the_mean_square_of_pairs():
    R = draw(2, 3, 6, 4)
    own = separation.inter(R).diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(2 * separation.intra(R, unbiased=True), own)


def test_expectations_exactly_over_all_samples_of_a_finite_distribution():
    # every sample of 3 points from {0, 1, 5} with weights 1/2, 1/3, 1/6, in exact arithmetic
    values, weights = (0, 1, 5), (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    mean = sum(w * v for v, w in zip(values, weights, strict=True))
    truth = sum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True))
    biased = unbiased = Fraction(0)
    for at in product(range(3), repeat=3):
        weight = weights[at[0]] * weights[at[1]] * weights[at[2]]
        R = torch.tensor([[[values[i]] for i in at]], dtype=torch.float64)
        for_three = Fraction(round(float(separation.intra(R)) * 9), 9)  # ninths are exact here
        biased += weight * for_three
        unbiased += weight * Fraction(round(float(separation.intra(R, unbiased=True)) * 6), 6)
    assert unbiased == truth
    assert biased == truth * Fraction(2, 3)


def test_the_unbiased_centre_distance_takes_off_the_noise():
    R = draw(2000, 2, 3, 5, seed=3) + torch.tensor([0.0, 1.0]).double()[:, None, None]
    # ‖μ₁ − μ₂‖² = 5; standard error of the mean of 2000 about 0.1
    assert separation.centres(R)[:, 0, 1].mean().item() == pytest.approx(5, abs=0.5)
    assert separation.centres(R, unbiased=False)[:, 0, 1].mean().item() == pytest.approx(
        5 + 10 / 3, abs=0.5
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_on_means_of_squares_no_representation_is_below_two(m, n, p, seed):
    R = draw(m, n, p, seed=seed)
    assert separation.rho(R, over="mean") >= 2 - 1e-12
    assert separation.rho(R, over="worst") <= separation.rho(R, over="mean") + 1e-12


def test_readings_of_rho_on_noise_alone():
    R = draw(8, 60, 2000, seed=1)  # many features: distances concentrate
    assert separation.rho(R, over="mean", unbiased=True).item() == pytest.approx(2, rel=0.01)
    assert separation.rho(R, over="mean", within="pairs").item() == pytest.approx(1, rel=0.01)
    plain = separation.rho(R, squared=False, over="mean", unbiased=True)
    assert plain.item() == pytest.approx(2**0.5, rel=0.01)
    plain = separation.rho(R, squared=False, over="mean", within="pairs")
    assert plain.item() == pytest.approx(1, rel=0.01)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 100), st.integers(0, 10**6), st.booleans(), st.sampled_from(separation.OVER))
def test_rho_does_not_see_shifts_scales_or_rotations(scale, seed, squared, over):
    R = draw(3, 4, 3, seed=seed)
    Q = torch.linalg.qr(draw(3, 3, seed=seed + 1))[0]
    moved = scale * R @ Q + 3.0
    for within in separation.WITHIN:
        options = {"squared": squared, "over": over, "within": within}
        torch.testing.assert_close(separation.rho(moved, **options), separation.rho(R, **options))


def test_rho_where_nothing_varies():
    points = torch.tensor([[[0.0], [0.0]], [[1.0], [1.0]]])
    assert separation.rho(points).isinf()
    assert separation.rho(torch.zeros(2, 2, 1)).isnan()


def test_unbiased_readings_scale_by_what_they_say():
    R = draw(3, 5, 4)
    for squared, factor in ((True, 4 / 5), (False, (4 / 5) ** 0.5)):
        ratio = separation.rho(R, squared=squared, unbiased=True) / separation.rho(
            R, squared=squared
        )
        assert ratio.item() == pytest.approx(factor)


@pytest.mark.parametrize("squared", [True, False])
def test_a_batch_is_its_members(squared):
    R = draw(4, 3, 5, 2)
    whole = separation.inter(R, squared=squared)
    share = separation.accepts(R, threshold=1.5)
    for i in range(4):
        torch.testing.assert_close(whole[i], separation.inter(R[i], squared=squared))
        torch.testing.assert_close(share[i], separation.accepts(R[i], threshold=1.5))


def test_distances_far_from_the_origin_keep_their_digits():
    R = draw(2, 4, 3)
    far = R * 1e-3 + 1e5
    torch.testing.assert_close(
        separation.inter(far, squared=False),
        1e-3 * separation.inter(R, squared=False),
        rtol=1e-6,
        atol=0,
    )
    torch.testing.assert_close(separation.inter(far), 1e-6 * separation.inter(R), rtol=1e-6, atol=0)


def test_acceptance_counts_pairs():
    R = draw(3, 6, 2, seed=4)
    share = separation.accepts(R, threshold=2.0)
    for i, j in product(range(3), repeat=2):
        pairs = pdist(R[i]) if i == j else cdist(R[i], R[j])
        assert share[i, j].item() == pytest.approx((pairs**2 < 2.0).mean())


def test_the_table_is_acceptance_one_pair_at_a_time():
    R = draw(3, 6, 2, seed=5)
    share = separation.accepts(R, threshold=2.0)
    for key in range(6):
        table = separation.HashTable(R[:, key], threshold=2.0)
        hits = table.members(R)
        assert hits.shape == (3, 6, 3)
        best = torch.cdist(R.flatten(0, 1), R[:, key])
        assert torch.equal(table.nearest(R).flatten(), best.argmin(1))
        found = table.lookup(R)
        assert torch.equal(found >= 0, hits.any(-1))
        assert torch.equal(found[found >= 0], table.nearest(R)[found >= 0])
    shares = torch.stack(
        [separation.HashTable(R[:, key], threshold=2.0).members(R).double() for key in range(6)]
    ).mean((0, 2))  # (query's manifold, key's manifold)
    different = ~torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(shares[different], share.mT[different])


def test_the_threshold_itself_is_refused():
    table = separation.HashTable(torch.tensor([[0.0]]), threshold=4.0)
    assert table.members(torch.tensor([[2.0], [1.9]])).flatten().tolist() == [False, True]


def test_recovery_is_least_squares():
    R, gamma = draw(20, 3, 4), draw(20, 2, seed=1)
    found = separation.recover(R, gamma, held_out=(R, gamma))
    X = np.column_stack([R.flatten(0, 1), np.ones(60)])
    oracle = np.linalg.lstsq(X, gamma.repeat_interleave(3, 0).numpy(), rcond=None)[0]
    np.testing.assert_allclose(found.weight, oracle[:4], atol=1e-12)
    np.testing.assert_allclose(found.offset, oracle[4], atol=1e-12)
    assert 0 <= found.r2 < 0.5
    ridged = separation.recover(R, gamma, held_out=(R, gamma), ridge=1e9)
    assert ridged.weight.abs().max() < 1e-6


def test_scores_of_nothing_and_of_chance():
    gamma = draw(600, 11, seed=2)
    nothing = separation.recover(
        torch.zeros(600, 1, 3).double(), gamma, held_out=(torch.zeros(600, 1, 3).double(), gamma)
    )
    assert nothing.squared == pytest.approx(0.5, rel=0.02)
    assert nothing.distance == pytest.approx(0.5**0.5, rel=0.02)
    assert nothing.r2 == pytest.approx(0, abs=1e-9)
    copy = separation._scores(draw(600, 11, seed=3), gamma, gamma)
    assert copy[2] == pytest.approx(1, rel=0.02)
    assert copy[3] == pytest.approx(1, rel=0.04)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 6), st.booleans(), st.integers(0, 10**6))
def test_a_linear_image_is_recovered_exactly_on_unseen_manifolds(p, intercept, seed):
    gamma = draw(30, 2, seed=seed)
    A = draw(2, p, seed=seed + 1)
    R = (gamma @ A)[:, None].expand(-1, 2, -1) + (3.0 if intercept else 0.0)
    found = separation.recover(
        R[:20], gamma[:20], held_out=(R[20:], gamma[20:]), intercept=intercept
    )
    assert found.r2 == pytest.approx(1, abs=1e-8)
    assert found.distance < 1e-4 and found.squared < 1e-8 and found.angle < 0.1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: separation.intra([[1.0, 2.0]]), "(1, 2)"),
        (lambda: separation.intra(draw(2, 1, 3), unbiased=True), "R has 1"),
        (lambda: separation.rho(draw(1, 2, 3)), "R has 1"),
        (lambda: separation.rho(draw(2, 1, 3), within="pairs"), "R has 1"),
        (lambda: separation.rho(draw(2, 2, 3), over="median"), "'median'"),
        (lambda: separation.rho(draw(2, 2, 3), within="box"), "'box'"),
        (lambda: separation.accepts(draw(2, 2, 3), threshold=0.0), "0.0"),
        (lambda: separation.HashTable(draw(2, 3), threshold=-1.0), "-1.0"),
        (lambda: separation.HashTable(draw(2, 2, 3), threshold=1.0), "(2, 2, 3)"),
        (lambda: separation.HashTable(draw(2, 3), threshold=1.0).members(draw(5, 2)), "(5, 2)"),
        (lambda: separation.recover(draw(3, 2, 2), draw(2, 2), held_out=(0, 0)), "(2, 2)"),
        (
            lambda: separation.recover(
                draw(3, 2, 2), draw(3, 2), held_out=(draw(3, 2, 2), draw(3, 2)), ridge=-1
            ),
            "-1",
        ),
    ],
)
def test_refusals_name_the_values(call, said):
    with pytest.raises(ValueError) as refusal:
        call()
    assert said in str(refusal.value)
