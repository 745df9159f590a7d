"""Raw ratios, linear maps and rescaling: sampling, scikit-learn and hashing as oracles."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.data import manifolds
from lowdim.hashing import baselines, separation
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

DOUBLE = torch.float64


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("s", "k", "terms", "spread"), [(3, 2, 1, 0.5), (2, 4, 3, 0.8)])
def test_raw_ratio_is_what_sampling_gives(order, s, k, terms, spread) -> None:
    rng = np.random.default_rng(1)
    between = within = 0.0
    V, W = rng.normal(size=(400, terms, s)), rng.normal(size=(400, terms, k))
    for v, w in zip(V, W, strict=True):
        gamma, theta = rng.normal(size=(3000, s)), spread * rng.normal(size=(2, 3000, k))
        x = [((gamma @ v.T + t @ w.T) ** order).sum(1) for t in theta]
        within += ((x[0] - x[1]) ** 2).mean()
        between += ((x[0] - np.roll(x[0], 1)) ** 2).mean()
    wanted = baselines.raw_ratio(order, s=s, k=k, terms=terms, spread=spread)
    assert between / within == pytest.approx(wanted, rel=0.06)


@settings(max_examples=25, deadline=None)
@given(s=st.integers(1, 3), k=st.integers(1, 3), seed=st.integers(0, 99))
def test_untangle_keeps_gamma_and_drops_theta(s: int, k: int, seed: int) -> None:
    D = manifolds.AnalyticFamily("sine", ambient=9, s=s, k=k, seed=seed).draw(m=3, n=2)
    L = baselines.untangle(D.V, D.W, [1.0] * 4)
    assert torch.allclose(L @ D.V.sum(0), torch.eye(s, dtype=DOUBLE), atol=1e-8)
    assert float((L @ D.W.sum(0)).abs().max()) < 1e-8


def test_fisher_is_scikit_learn_s() -> None:
    means = 2 * normal(6, 1, 4, seed=1)
    X = means + normal(6, 30, 4, seed=2) @ torch.diag(torch.tensor([1.0, 3.0, 0.3, 1.0]).double())
    L = baselines.fisher(X, 2, ridge=0.0)
    flat, y = X.flatten(0, 1).numpy(), np.repeat(np.arange(6), 30)
    theirs = (
        LinearDiscriminantAnalysis(solver="eigen", n_components=2).fit(flat, y).scalings_[:, :2]
    )
    for mine, other in zip(L.numpy(), theirs.T, strict=True):
        cosine = abs(mine @ other) / np.linalg.norm(mine) / np.linalg.norm(other)
        assert cosine == pytest.approx(1, abs=1e-8)
    off = (X - X.mean(1, keepdim=True)).flatten(0, 1)
    assert torch.allclose(L @ (off.T @ off / 180) @ L.T, torch.eye(2, dtype=DOUBLE), atol=1e-8)


def test_principal_directions_are_orthonormal_and_carry_most() -> None:
    X = normal(5, 8, 6) * torch.arange(6, 0, -1)
    P = baselines.principal(X, 3)
    assert torch.allclose(P @ P.T, torch.eye(3, dtype=DOUBLE), atol=1e-12)
    flat = X.flatten(0, 1) - X.flatten(0, 1).mean(0)
    values = torch.linalg.eigvalsh(flat.T @ flat).flip(0)
    assert float((flat @ P.T).square().sum()) == pytest.approx(float(values[:3].sum()))


@settings(max_examples=40, deadline=None)
@given(m=st.integers(2, 5), n=st.integers(2, 5), p=st.integers(2, 6), seed=st.integers(0, 999))
def test_rescaling_reaches_every_value_between_the_features(m, n, p, seed) -> None:
    R = normal(m, 1, p, seed=seed) + normal(m, n, p, seed=seed + 1)
    ratios = baselines.feature_ratios(R)
    for i in range(p):
        alone = separation.rho(R[..., i : i + 1], within="pairs", over="mean")
        assert float(ratios[i]) == pytest.approx(float(alone), rel=1e-9)
    whole = float(separation.rho(R, within="pairs", over="mean"))
    low, high = float(ratios.min()), float(ratios.max())
    assert low * (1 - 1e-12) <= whole <= high * (1 + 1e-12)
    target = low + 0.3 * (high - low)
    factors = baselines.rescale(R, target)
    assert bool((factors > 0).all())
    found = float(separation.rho(R * factors, within="pairs", over="mean"))
    assert found == pytest.approx(target, rel=1e-6)


@pytest.mark.parametrize("layers", [2, 3, 4, 6])
def test_dead_decay_is_sharp_for_one_class(layers: int) -> None:
    """One weight in each layer: at λ* no product beats zero, a bit below it one does."""
    R = 1.7
    lam = baselines.dead_decay(R, classes=1, layers=layers)
    P = torch.linspace(1e-6, 2, 20001, dtype=DOUBLE) / R

    def value(lam: float) -> torch.Tensor:
        return (1 - P * R) ** 2 + lam / 2 * layers * P ** (2 / layers)

    assert float(value(lam).min()) >= 1 - 1e-6
    assert float(value(0.98 * lam).min()) < 1
    assert baselines.dead_decay(R, classes=1, layers=layers, share=0.1) == pytest.approx(lam / 10)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="order must be one of"):
        baselines.raw_ratio(3, s=1, k=1)
    with pytest.raises(ValueError, match="need rank 4"):
        baselines.untangle(normal(1, 3, 2), normal(1, 3, 2), [1.0])
    with pytest.raises(ValueError, match="needs a slope"):
        baselines.untangle(normal(2, 5, 2), normal(2, 5, 2), [1.0])
    with pytest.raises(ValueError, match="there is none"):
        baselines.fisher(torch.ones(3, 2, 2), 1)
    with pytest.raises(ValueError, match="strictly between"):
        baselines.rescale(normal(3, 4, 2), 1e9)
    with pytest.raises(ValueError, match="above 0"):
        baselines.dead_decay(0.0, classes=2, layers=3)
