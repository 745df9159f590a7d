"""Batches of networks are the same networks alone; the data's plane is what it is said to be."""

from __future__ import annotations

import pytest
import torch
from lowdim.bridge import clock, runs
from lowdim.instruments.measuring import measure

WORLD = runs.digits(ambient=70, points=100)
SMALL = {"width": 8, "steps": 5, "ticks": (0,)}


def test_a_network_is_the_same_alone_and_in_a_batch() -> None:
    both = runs.train(WORLD, decays=(0.0, 0.1), seeds=2, **SMALL)[-1]
    alone = runs.train(WORLD, decays=(0.1,), seeds=1, **SMALL)[-1]
    for a, b in zip(both.weights, alone.weights, strict=True):
        torch.testing.assert_close(a[2], b[0])


def test_normal_weights_only_shrink() -> None:
    first, last = runs.train(WORLD, decays=(0.0, 0.1), seeds=1, **SMALL)
    before, after = (run.weights[0].double() @ WORLD.normal for run in (first, last))
    factor = torch.tensor([1.0, (1 - 0.2 * 0.1) ** 5]).double()[:, None, None]
    torch.testing.assert_close(after, factor * before, atol=1e-6, rtol=1e-5)


def test_bases_are_orthonormal_and_hold_the_data() -> None:
    whole = torch.cat([WORLD.along, WORLD.normal], 1)
    torch.testing.assert_close(whole.mT @ whole, torch.eye(70).double())
    for x, _ in WORLD.splits().values():
        spread = (x - x.mean(0)) @ WORLD.normal
        assert spread.abs().max() < 1e-9


def test_readings_are_those_of_the_instruments() -> None:
    run = runs.train(WORLD, decays=(0.01,), seeds=1, **SMALL)[-1]
    found = clock.readings(run, WORLD)
    options = {"sample": 32, "probes": 4, "instruments": ["collapse", "hashing"]}
    layer = measure(
        run.module(0), WORLD.train, held_out=WORLD.held_out, layers=["input", "3"], **options
    ).layer("3")
    for name, key in (("tail", "tail"), ("within", "within_share")):
        assert float(found[name]) == pytest.approx(layer.number("collapse", key).value, rel=1e-4)
    for name, split in (("rho", "train"), ("rho_held_out", "held_out")):
        assert float(found[name]) == pytest.approx(
            layer.number("hashing", "rho", split).value, rel=1e-4
        )


def test_too_few_dimensions_or_points_are_refused() -> None:
    with pytest.raises(ValueError, match="65"):
        runs.digits(ambient=64)
    with pytest.raises(ValueError, match="between 50 and 850"):
        runs.digits(points=851)
