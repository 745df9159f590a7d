"""Layers under activations: what the builders promise, and exact layers against floats."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.preserve import activated, perturbed, preservation
from sympy import Rational

LAYERS = activated.Layers(size=5, hidden=8)


def test_kinds_of_weights_share_data_and_differ_in_sign():
    drawn = {k: LAYERS.draw(4, np.random.default_rng(0), k, 0.1) for k in activated.KINDS}
    for clean, _ in drawn.values():
        torch.testing.assert_close(clean, drawn["positive"][0])
        assert not clean[:, activated.RANK :].any()
    clean = {k: LAYERS.draw(4, np.random.default_rng(0), k)[1] for k in activated.KINDS}
    assert bool((clean["positive"] >= 0).all() and (clean["sparse"] >= 0).all())
    assert bool((clean["sparse"] == 0).any() or (clean["sparse"] < clean["positive"]).any())
    assert 0.3 < (clean["symmetric"] < 0).double().mean() < 0.7


def test_an_unknown_kind_of_weights_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="positive"):
        LAYERS.draw(1, np.random.default_rng(0), "negative")


def test_every_instance_gets_the_activation_of_its_number():
    H = torch.randn(12, 2, 3, generator=torch.Generator().manual_seed(0))
    act = torch.arange(12) % 6
    Y = LAYERS.activated(H, act)
    for k, f in enumerate(LAYERS.activations.values()):
        torch.testing.assert_close(Y[act == k], f(H[act == k]))


def test_the_edge_admits_some_of_all_but_sigmoid():
    case = LAYERS.at_the_edge(120, np.random.default_rng(1))
    Y = LAYERS.activated(case["H"], case["act"])
    step = preservation.sin_theta(Y, case["H"] - Y, LAYERS.rank)
    eps = perturbed.epsilon(case["clean"], LAYERS.rank, zero=1e-9)
    admitted = step.gap > (128 * LAYERS.rank) ** 0.5 * step.spectral / eps
    counts = [int(admitted[case["act"] == k].sum()) for k in range(6)]
    assert min(counts[:5]) > 0
    assert counts[5] == 0


def test_layers_of_one_unit_are_just_admitted():
    rng = np.random.default_rng(2)
    free = {k: torch.from_numpy(rng.standard_normal((40, 1, 3))) for k in "hc"}
    free["h"][:, 0, 0] = free["h"][:, 0, 0].abs()
    free["h"][:, 0, 1] = -free["h"][:, 0, 1].abs()
    case = activated.just_admitted(free)
    Y = case["H"].clamp_min(0)
    step = preservation.sin_theta(Y, case["H"] - Y, 1)
    ratio = step.gap * perturbed.epsilon(case["clean"], 1) / (128**0.5 * step.spectral)
    torch.testing.assert_close(ratio, torch.full_like(ratio, 1.0001))


@pytest.mark.parametrize(
    "H", [[[-1, 1, 4], [1, -1, 4], [2, 2, -1]], [[2, -1], [-1, 1]], [[3, 1], [-1, 2]]]
)
def test_exact_layers_agree_with_floating_point(H):
    ratio2, sine2 = activated.exact_relu(H)
    values = torch.tensor(H, dtype=torch.float64)
    Y = values.clamp_min(0)
    step = preservation.sin_theta(Y, values - Y, 1)
    assert float(ratio2) == pytest.approx((step.spectral / step.gap).item() ** 2)
    assert float(sine2) == pytest.approx(step.sines[0].item() ** 2)


@pytest.mark.parametrize("b", [Rational(1, 10), Rational(3, 4), Rational(1251, 100000)])
def test_exact_cuts_agree_with_floating_point(b):
    sine2, moved = activated.exact_cut(b)
    H = torch.tensor([[1.0, -float(b)]], dtype=torch.float64)
    step = preservation.sin_theta(H.clamp_min(0), H - H.clamp_min(0), 1)
    assert float(sine2) == pytest.approx(step.sines[0].item() ** 2)
    assert float(moved) == pytest.approx(step.largest_entry.item())
    assert (step.spectral / step.gap).item() == pytest.approx(float(b))


def test_spans_name_every_run_of_scales():
    scales = torch.logspace(-2, 2, 5)
    shares = torch.tensor([0.5, 0.0, 1.0, 0.0, 0.9])
    assert activated.span(scales, shares) == "to 1e-02, 1e+00–1e+00, from 1e+02"
