"""Unions of subspaces: shapes, ranks, noise, reproducibility of single trials, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.data import unions

BASE = {"ambient": 12, "dims": (2, 3), "sizes": (5, 7)}


def rank(A: torch.Tensor) -> list[int]:
    return torch.linalg.matrix_rank(A).tolist()


def test_shapes_labels_and_the_parts_of_the_sum():
    X = unions.union_of_subspaces(trials=3, noise=0.5, seed=1, **BASE)
    assert X.clean.shape == X.noisy.shape == X.noise.shape == (3, 12, 12)
    assert X.bases.shape == (3, 12, 5)
    assert X.coefficients.shape == (3, 5, 12)
    assert X.labels.tolist() == [0] * 5 + [1] * 7
    assert (X.r, X.dims) == (5, (2, 3))
    torch.testing.assert_close(X.noisy, X.clean + X.noise, rtol=0, atol=0)
    torch.testing.assert_close(X.clean, X.bases @ X.coefficients)
    assert X.noise.abs().min() > 0


def test_without_noise_both_matrices_are_the_same():
    X = unions.union_of_subspaces(**BASE)
    assert torch.equal(X.noisy, X.clean)
    assert not X.noise.any()


@pytest.mark.parametrize("basis", unions.BASES)
@pytest.mark.parametrize("coefficients", ["gaussian", "uniform", "nonnegative"])
def test_each_cluster_spans_its_subspace_and_all_together_their_sum(basis, coefficients):
    X = unions.union_of_subspaces(trials=4, basis=basis, coefficients=coefficients, **BASE)
    assert rank(X.clean) == [5] * 4
    assert rank(X.clean[..., X.labels == 0]) == [2] * 4
    assert rank(X.clean[..., X.labels == 1]) == [3] * 4
    assert rank(torch.cat([X.clean[..., :5], X.bases[..., :2]], -1)) == [2] * 4


def test_coefficients_are_block_diagonal():
    X = unions.union_of_subspaces(**BASE)
    outside = np.ones((5, 12), dtype=bool)
    outside[:2, :5] = outside[2:, 5:] = False
    assert not X.coefficients[0].numpy()[outside].any()
    assert X.coefficients[0].numpy()[~outside].all()


def test_orthonormal_bases_are_orthonormal_and_others_need_not_be():
    X = unions.union_of_subspaces(trials=2, **BASE)
    for block in (X.bases[..., :2], X.bases[..., 2:]):
        eye = torch.eye(block.shape[-1], dtype=torch.float64).expand(2, -1, -1)
        torch.testing.assert_close(block.mT @ block, eye)
    raw = unions.union_of_subspaces(trials=2, basis="gaussian", **BASE).bases
    assert (raw.square().sum(1) - 1).abs().min() > 1e-3


def test_shared_directions_make_the_subspaces_dependent():
    for shared, expected in ((0, 5), (1, 4), (2, 3)):
        for basis in unions.BASES:
            X = unions.union_of_subspaces(shared=shared, basis=basis, trials=2, **BASE)
            assert rank(X.bases) == [expected] * 2
            assert rank(X.clean) == [expected] * 2


def test_nonnegative_data_are_nonnegative():
    X = unions.union_of_subspaces(
        trials=3, basis="nonnegative", coefficients="nonnegative", seed=2, **BASE
    )
    assert X.bases.min() >= 0
    assert X.coefficients.min() >= 0
    assert X.clean.min() >= 0
    assert X.clean.max() > 0
    torch.testing.assert_close(X.bases.square().sum(1), torch.ones(3, 5, dtype=torch.float64))
    signed = unions.union_of_subspaces(trials=3, seed=2, **BASE)
    assert signed.clean.min() < 0


def test_noise_has_its_variance_and_no_mean():
    # 160000 draws: the standard error of the variance is 0.35 %, of the mean 0.25 % of s
    X = unions.union_of_subspaces(ambient=400, dims=(2,), sizes=(400,), noise=0.04, seed=5)
    assert X.noise.var().item() == pytest.approx(0.04, rel=0.02)
    assert abs(X.noise.mean().item()) < 0.2 * 0.015
    both = torch.stack([X.noise.flatten(), X.clean.flatten()])
    assert abs(torch.corrcoef(both)[0, 1].item()) < 0.015


@pytest.mark.parametrize("coefficients", ["gaussian", "uniform"])
def test_the_scale_is_a_standard_deviation(coefficients):
    X = unions.union_of_subspaces(
        ambient=5, dims=(4,), sizes=(20000,), coefficients=coefficients, coefficient_scale=0.25
    )
    assert X.coefficients.std().item() == pytest.approx(0.25, rel=0.02)
    if coefficients == "uniform":
        assert X.coefficients.abs().max() <= 0.25 * 3**0.5


def test_constant_coefficients_give_one_point_for_each_line():
    X = unions.union_of_subspaces(
        ambient=6, dims=(1, 1), sizes=(3, 4), coefficients="constant", coefficient_scale=2.0
    )
    first, second = X.clean[0, :, :3], X.clean[0, :, 3:]
    torch.testing.assert_close(first, first[:, :1].expand(-1, 3))
    torch.testing.assert_close(second, second[:, :1].expand(-1, 4))
    assert first[:, 0].norm().item() == pytest.approx(2)


@settings(max_examples=15, deadline=None)
@given(st.integers(-(2**40), 2**40), st.integers(0, 5), st.sampled_from(unions.BASES))
def test_a_trial_is_the_same_alone_and_in_a_batch(seed, trial, basis):
    options = {"noise": 0.1, "basis": basis, "seed": seed, **BASE}
    batch = unions.union_of_subspaces(trials=6, **options)
    alone = unions.union_of_subspaces(first_trial=trial, **options)
    for name in ("clean", "noisy", "noise", "bases", "coefficients"):
        assert torch.equal(getattr(batch, name)[trial], getattr(alone, name)[0])


def test_trials_and_seeds_differ():
    X = unions.union_of_subspaces(trials=2, noise=0.1, **BASE)
    Y = unions.union_of_subspaces(trials=2, noise=0.1, seed=1, **BASE)
    Z = unions.union_of_subspaces(trials=2, noise=0.1, seed=-1, **BASE)
    assert (X.clean[0] - X.clean[1]).abs().max() > 0.1
    assert (X.clean - Y.clean).abs().max() > 0.1
    assert (Y.clean - Z.clean).abs().max() > 0.1


def test_single_precision_is_the_rounded_double():
    double = unions.union_of_subspaces(noise=0.1, **BASE)
    single = unions.union_of_subspaces(noise=0.1, dtype=torch.float32, **BASE)
    for name in ("clean", "noisy", "noise", "bases", "coefficients"):
        assert getattr(single, name).dtype == torch.float32
        assert torch.equal(getattr(single, name), getattr(double, name).float())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trials": 0}, "you gave 0"),
        ({"trials": 2.0}, "you gave 2.0"),
        ({"dims": (2,)}, "(2,) and (5, 7)"),
        ({"dims": (), "sizes": ()}, "() and ()"),
        ({"dims": (0, 3)}, "(0, 3)"),
        ({"sizes": (5, 0)}, "(5, 0)"),
        ({"dims": (2, 13)}, "dimension 13 fits into ambient = 12"),
        ({"shared": 3}, "min(dims) = 2; you gave 3"),
        ({"shared": -1}, "you gave -1"),
        ({"noise": -0.1}, "-0.1"),
        ({"noise": float("nan")}, "nan"),
        ({"noise": float("inf")}, "inf"),
        ({"coefficient_scale": 0.0}, "0.0"),
        ({"basis": "hadamard"}, "'hadamard'"),
        ({"coefficients": "cauchy"}, "'cauchy'"),
    ],
)
def test_refusals_name_the_values(change, said):
    with pytest.raises(ValueError) as refusal:
        unions.union_of_subspaces(**(BASE | change))
    assert said in str(refusal.value)
