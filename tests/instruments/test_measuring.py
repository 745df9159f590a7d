"""Numbers against each part's own code on the same network, and on many architectures."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from lowdim.embedded import offdata as part_three
from lowdim.hashing import separation
from lowdim.instruments import capture, offdata
from lowdim.instruments.measuring import Measurement, measure
from lowdim.instruments.refusal import Unmeasurable
from lowdim.linalg import ranks, subspaces
from lowdim.nets.networks import Dense
from lowdim.preserve import blocks, drift, preservation
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES, EACH, RANK = 3, 20, 3


def points(each: int = EACH) -> tuple[Tensor, Tensor]:
    """Three noisy clusters in ten dimensions, (60, 10), and labels that are not 0, 1, 2."""
    rng = np.random.default_rng(0)
    labels = np.tile([7, 2, 5], each)
    centres = rng.standard_normal((8, 10)) * 2
    return torch.from_numpy(centres[labels] + rng.standard_normal((len(labels), 10))), (
        torch.from_numpy(labels)
    )


def network() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(10, 12), nn.ReLU(), nn.Linear(12, 6), nn.Tanh()).double()


@pytest.fixture(scope="module")
def found() -> Measurement:
    X, y = points()
    return measure(network(), X, labels=y, rank=RANK, batch=17)


@pytest.fixture(scope="module")
def values() -> dict[str, Tensor]:
    """The layers' values (n, p), by running them one by one."""
    h, _ = points()
    out = {"input": h}
    with torch.no_grad():
        for i, layer in enumerate(network()):
            h = layer(h)
            out[str(i)] = h
    return out


def near(number: Any, expected: float) -> None:
    assert number.value == pytest.approx(expected, abs=1e-6, rel=1e-6)
    assert abs(number.value - expected) <= max(number.error or 0, 1e-9)  # the error that it states


def test_row_spaces_are_those_of_part_one(found: Measurement, values: dict[str, Tensor]) -> None:
    _, y = points()
    bases = {k: subspaces.principal_rows(H.mT, RANK, method="svd") for k, H in values.items()}
    names = list(values)
    for name, before in zip(names[1:], names, strict=False):
        layer, H = found.layer(name), values[name]
        near(layer.number("preserve", "to_input"), float(drift.apart(bases["input"], bases[name])))
        near(
            layer.number("preserve", "to_previous"), float(drift.apart(bases[before], bases[name]))
        )
        near(layer.number("preserve", "to_labels"), float(blocks.price(bases[name], y)))
        near(layer.number("preserve", "off_block"), float(blocks.off_block(bases[name], y)))
        near(layer.number("preserve", "gap"), float(subspaces.gap(H.mT, H.mT, RANK)))
        gap = float(subspaces.gap(values["input"].mT, H.mT, RANK))
        near(layer.number("preserve", "gap_input"), gap)
        above, below = preservation.tangent_ratio(H.mT, bases["input"])
        near(layer.number("preserve", "tangent"), float(above / below))


def test_spectra_and_clusters_are_those_of_part_two(
    found: Measurement, values: dict[str, Tensor]
) -> None:
    _, y = points()
    for name, H in values.items():
        layer = found.layer(name)
        near(layer.number("collapse", "tail"), float(ranks.tails(H)[CLASSES]))
        assert layer.number("collapse", "soft_rank").value == int(ranks.soft_rank(H))
        near(layer.number("collapse", "within"), float(ranks.wcss(H.mT, y)))
        number = layer.number("collapse", "variation")
        assert number.low == pytest.approx(float(ranks.variation_floor(H.mT, CLASSES)), abs=1e-9)
        best = ranks.variation(H.mT, CLASSES, method="kmeans", labels=y)
        assert number.low - 1e-9 <= best.value <= number.value + 1e-9
        assert number.value <= float(ranks.wcss(H.mT, y)) + 1e-9
    for name, module in (("0", network()[0]), ("2", network()[2])):
        W = module.weight.detach()
        near(found.layer(name).weights["weight"]["tail"], float(ranks.tails(W)[CLASSES]))
        rank = found.layer(name).weights["weight"]["soft_rank"].value
        assert rank == int(ranks.soft_rank(W))


def test_distances_are_those_of_part_four(found: Measurement, values: dict[str, Tensor]) -> None:
    _, y = points()
    for name, H in values.items():
        R = torch.stack([H[y == k] for k in y.unique()])
        layer = found.layer(name)
        near(layer.number("hashing", "within"), float(separation.intra(R).mean()))
        near(layer.number("hashing", "rho"), float(separation.rho(R)))
        near(layer.number("hashing", "rho_mean"), float(separation.rho(R, over="mean")))
        plain = separation.rho(R, squared=False, over="mean", within="pairs")
        near(layer.number("hashing", "rho_plain"), float(plain))


def test_steps_off_the_data_are_those_of_part_three() -> None:
    net = Dense((5, 9, 2))
    weights = [(W.double(), None if b is None else b.double()) for W, b in net.init(seed=3)]
    model = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 2)).double()
    with torch.no_grad():
        for layer, (W, b) in zip((model[0], model[2]), weights, strict=True):
            layer.weight.copy_(W[0])
            layer.bias.copy_(b[0].flatten())
    rng = np.random.default_rng(2)
    x, y = (torch.from_numpy(rng.standard_normal(s)) for s in ((3, 40), (2, 40)))
    on = torch.cat([x, torch.zeros_like(y)]).mT.contiguous()
    steps = torch.cat([torch.zeros_like(x), y]).mT.contiguous()
    taps = capture.plan(model, on).taps[1:]
    change = offdata.moves(model, taps, on, steps)[len(taps) - 1]
    expected = float(part_three.stability(net, weights, x, y)[0])
    assert float(change.square().sum(1).mean()) == pytest.approx(expected, abs=1e-6)
    # the derivative is the limit of steps, and agrees with reverse mode
    slope = offdata.derivatives(model, taps, on, steps)[len(taps) - 1]
    jacobian = torch.func.vmap(torch.func.jacrev(model))(on)
    torch.testing.assert_close(slope, torch.einsum("nij,nj->ni", jacobian, steps))
    small = offdata.moves(model, taps, on, 1e-7 * steps)[len(taps) - 1] / 1e-7
    assert float((small - slope).abs().max()) < 1e-5


def test_a_network_that_ignores_normal_directions_has_none() -> None:
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.standard_normal((80, 6)))
    X[:, 4:] = 0
    model = network()
    model[0] = nn.Linear(6, 12).double()
    with torch.no_grad():
        model[0].weight[:, 4:] = 0
    found = measure(model, X, rank=2)
    assert (found.tangent, found.ambient) == (4, 6)
    last = found.layers[-1]
    assert last.number("embedded", "normal").value < 1e-9 < last.number("embedded", "along").value
    with torch.no_grad():
        model[0].weight[:, 4:] = 1
    last = measure(model, X, rank=2).layers[-1]
    number = last.number("embedded", "normal")
    assert number.value > 0.1
    assert number.error < 1e-5 * number.value  # two ways to take it
    assert last.number("embedded", "ratio").low < last.number("embedded", "ratio").value


def test_ranges_hold_what_more_points_show() -> None:
    model, (X, y) = network(), points(400)
    truth = measure(model, X, labels=y, rank=RANK)
    hits = 0
    for start in range(0, 1200, 120):
        part = measure(model, X[start : start + 120], labels=y[start : start + 120], rank=RANK,
                       instruments=("preserve", "hashing"))  # fmt: skip
        for key in (("preserve", "to_input"), ("hashing", "within")):
            number = part.layer("1").number(*key)
            hits += number.low <= truth.layer("1").number(*key).value <= number.high
    assert hits >= 15  # of 20, at a level of 95 %


def test_batches_order_and_loaders_do_not_matter(found: Measurement) -> None:
    X, y = points()
    loader = DataLoader(TensorDataset(X, y), batch_size=7, shuffle=True)
    other = measure(network(), loader, rank=RANK)
    for a, b in zip(found.layers, other.layers, strict=True):
        for key in ("to_input", "to_labels", "tangent"):
            if a.number("preserve", key).value is not None:
                expected = a.number("preserve", key).value
                assert b.number("preserve", key).value == pytest.approx(expected, abs=1e-7)


def test_every_architecture_is_measured_and_left_as_it_was(
    made: tuple[nn.Module, Tensor, Tensor],
) -> None:
    model, x, y = made
    model.train()
    before, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    found = measure(model, x, labels=y, sample=40, probes=10, batch=25, explained=0.5)
    after = model.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)
    assert torch.equal(random, torch.get_rng_state())
    assert all(m.training for m in model.modules())
    assert all(p.grad is None for p in model.parameters())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    json.dumps(found.as_json(), allow_nan=False)
    for layer in found.layers:
        for parts in layer.numbers.values():
            assert set(parts) == {"preserve", "collapse", "embedded", "hashing"}
            for numbers in parts.values():
                for number in numbers.values():
                    assert number.value is not None or number.reason
                    if number.value is not None:
                        assert number.error is not None or number.low is not None
    last = found.layers[-1]
    assert last.number("hashing", "rho_mean").value > 0
    if x.is_floating_point() and not last.note:
        assert last.number("embedded", "normal_step").value >= 0


def test_sketched_values_keep_their_distances_within_what_is_said() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(90, 1, 12, 12), torch.arange(90) % 3
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 3))
    exact, rough = (measure(model, x, labels=y, width=w, probes=5) for w in (1024, 256))
    a, b = (m.layer("1").number("hashing", "within") for m in (exact, rough))
    assert abs(a.value - b.value) < b.error
    assert "sketched to 256" in rough.layer("1").note and not exact.layer("1").note


def test_held_out_points_and_unseen_classes_are_apart() -> None:
    X, y = points()
    seen = y != 5
    found = measure(network(), X[seen], labels=y[seen], held_out=(X, torch.where(y == 7, 9, y)))
    assert found.splits["train"] == {"points": 40, "classes": 2}
    assert found.splits["held_out"] == {"points": 20, "classes": 1}
    assert found.splits["unseen"] == {"points": 40, "classes": 2}
    assert found.layers[-1].number("hashing", "rho", "unseen").value > 0
    assert "one class" in found.layers[-1].number("hashing", "rho", "held_out").reason


def test_a_dead_layer_says_so_and_stops_nothing() -> None:
    X, y = points()
    model = network()
    nn.init.zeros_(model[2].weight)
    nn.init.zeros_(model[2].bias)
    found = measure(model, X, labels=y, rank=RANK)
    dead = found.layer("2")
    assert dead.number("preserve", "to_input").value is None
    assert dead.number("hashing", "rho").reason and dead.number("collapse", "tail").reason
    assert math.isfinite(found.layer("1").number("preserve", "to_input").value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels": torch.zeros(60, dtype=torch.int64)}, "one class only"),
        ({"labels": torch.rand(60)}, "whole numbers"),
        ({"rank": 61}, "60 points, fewer than the rank r = 61"),
        ({"data": torch.randn(60, 9).double()}, "raised RuntimeError on inputs of shape"),
        ({"data": torch.full((60, 10), math.nan).double()}, "not finite"),
        ({"data": []}, "are empty"),
        ({"layers": ["nowhere"]}, "No layer"),
        ({"instruments": ["hammer"]}, "instruments must be one of"),
        ({"explained": 0}, "explained must be above 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(change: dict[str, Any], sentence: str) -> None:
    X, y = points()
    options: dict[str, Any] = {"data": X, "labels": y} | change
    if "data" in change:
        options.pop("labels")
    with pytest.raises(ValueError, match=sentence):
        measure(network(), options.pop("data"), **options)


def test_nan_that_comes_late_is_refused_with_its_layer() -> None:
    X, y = points()
    X[50] = math.nan
    with pytest.raises(Unmeasurable, match=r"input .* for 1 points of the training data"):
        measure(network(), X, labels=y, batch=20)


def test_half_precision_is_measured_in_its_own_precision() -> None:
    X, y = points()
    model = network().to(torch.bfloat16)
    with torch.backends.mkldnn.flags(enabled=False):  # its kernels crash on some processors
        found = measure(model, X, labels=y, rank=2)
    assert found.settings["dtype"] == "torch.bfloat16"
    assert model[0].weight.dtype == torch.bfloat16
    exact = measure(network(), X, labels=y, rank=2)
    a, b = (m.layer("1").number("hashing", "within").value for m in (found, exact))
    assert a == pytest.approx(b, rel=0.05)


def test_a_layer_that_lives_at_one_point_only_has_a_tail_without_a_range() -> None:
    """Its values are zero in all groups but one, and nothing is left without that one."""
    x = -torch.ones(30, 3)
    x[7] = torch.tensor([1.0, 2.0, 3.0])
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    nn.init.eye_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    found = measure(model, x, labels=torch.arange(30) % 2, sample=16, probes=3)
    tail = found.layer("1").number("collapse", "tail")
    assert tail.value == pytest.approx(0, abs=1e-12)
