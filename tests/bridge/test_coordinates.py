"""Readings under a change of coordinates, against other code and by their symmetries."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.bridge import coordinates, gallery
from lowdim.instruments.measuring import measure
from lowdim.seeds import generator
from torch import nn

LABELS = [0, 0, 1, 1, 2, 2]


def layers(count: int = 20) -> torch.Tensor:
    return torch.from_numpy(generator(0, 0, "coordinates").standard_normal((count, 4, 6)))


def test_readings_are_those_of_numpy_and_of_the_instruments() -> None:
    H = layers(1)[0]
    q = coordinates.readings(H, LABELS)
    X = H.numpy().T.reshape(3, 2, 4)
    means = X.mean(1)
    variances = ((X - means[:, None]) ** 2).sum(2).mean(1)
    pairs = [((means[i] - means[j]) ** 2).sum() + variances[i] + variances[j]
             for i in range(3) for j in range(i)]  # fmt: skip
    np.testing.assert_allclose(q.rho, min(pairs) / variances.max())
    between = 2 * ((means - X.mean((0, 1))) ** 2).sum()
    np.testing.assert_allclose(q.within, 2 * variances.sum() / between)
    s = np.linalg.svd(H.numpy(), compute_uv=False) ** 2
    np.testing.assert_allclose(q.tail, s[3:].sum() / s[:3].sum())
    same = nn.Linear(4, 4, bias=False).double()
    nn.init.eye_(same.weight)
    found = measure(same, H.mT, labels=torch.tensor(LABELS), instruments=["collapse", "hashing"])
    layer = found.layers[-1]
    assert layer.number("hashing", "rho").value == pytest.approx(float(q.rho))
    share = layer.number("collapse", "within_share").value
    assert share is not None and share / (1 - share) == pytest.approx(float(q.within))


def test_similarities_change_nothing_and_a_batch_is_its_instances() -> None:
    H = layers()
    Q = torch.linalg.qr(torch.randn(7, 4, dtype=torch.float64)).Q
    before, after = (coordinates.readings(X, LABELS) for X in (H, 3 * Q @ H))
    moved = coordinates.readings(3 * Q @ H + 5, LABELS)
    for name in ("rho", "within", "tail"):
        torch.testing.assert_close(getattr(before, name), getattr(after, name))
    torch.testing.assert_close(before.rho, moved.rho)
    torch.testing.assert_close(before.within, moved.within)
    torch.testing.assert_close(coordinates.readings(H[3], LABELS).rho, before.rho[3])


def test_the_factor_is_attained_by_the_odds_and_approached_by_rho() -> None:
    for least in (False, True):
        H, A = coordinates.stretched(5.0, 1e4, least=least)
        before, after = (coordinates.readings(X, LABELS) for X in (H, A @ H))
        assert float(coordinates.factor(before.within, after.within)) == pytest.approx(25)
        assert 24.99 < float(coordinates.factor(before.rho, after.rho)) <= 25


def test_a_rescaled_network_computes_the_same() -> None:
    model = gallery.make("convolutions", width=2).double()
    assert isinstance(model, nn.Sequential)
    other = coordinates.rescaled(model, 6, torch.logspace(-2, 2, 8))
    x = torch.rand(5, 1, 8, 8).double()
    torch.testing.assert_close(model(x), other(x))
    assert not torch.allclose(model[:8](x), other[:8](x))


def test_other_places_and_signs_are_refused() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
    with pytest.raises(ValueError, match="there are Linear, Tanh, Linear"):
        coordinates.rescaled(model, 0, torch.ones(2))
    model[1] = nn.ReLU()
    with pytest.raises(ValueError, match=r"above 0; the least is -1\.0"):
        coordinates.rescaled(model, 0, torch.tensor([-1.0, 2.0]))
