"""Five layers on four subspaces: shapes, the untrained network, and what an outcome reports."""

from __future__ import annotations

import pytest
import torch
from lowdim.preserve import drift, layered

FIVE = layered.Five(80, seed=1)


@pytest.fixture(scope="module")
def drawn():
    return FIVE.draw(0.01, 2)


def test_networks_have_five_layers_that_are_measured():
    assert FIVE.net.widths == FIVE.linear.widths == (80, 16, 16, 16, 16, 16, 80)
    assert FIVE.closed.widths == (80, 16, 16, 16, 16, 80)


def test_without_noise_nothing_is_lost_before_the_first_layer():
    clean = FIVE.draw(0.0, 1)
    assert clean.distance == pytest.approx(0, abs=1e-7)
    assert clean.accuracy == 1


def test_the_first_look_of_a_run_is_the_untrained_network(drawn):
    steps, drifts = FIVE.untrained(0.01, 2)
    run = FIVE.follow(drawn, [0, 3])
    torch.testing.assert_close(run.trace["step_output"][0].mean(0), steps)
    torch.testing.assert_close(run.trace["drift_output"][0].mean(0), drifts)


def test_a_linear_network_keeps_what_its_first_layer_keeps(drawn):
    run = FIVE.follow(drawn, [0, 1], net=FIVE.linear)
    # Sixteen units map injectively, so that all have one row space of dimension 16; the product
    # of square Gaussian maps is badly conditioned, and in single precision.
    first, *later = run.trace["step_output"][0].unbind(1)
    assert max(step.max().item() for step in later) < 0.02
    assert first.min().item() > 0.2


def test_an_outcome_reads_its_run(drawn):
    run = FIVE.follow(drawn, [0, 2, 4])
    found = layered.outcome(run, drawn)
    seen = run.trace["accuracy"].mean((1, 2))
    assert found.best == pytest.approx(seen.max().item())
    assert found.numbers[0] == found.untrained == pytest.approx(seen[0].item())
    assert found.level == drawn.accuracy
    assert not found.learned
    assert "of 4" in found.where


def test_an_outcome_of_a_run_that_diverged_has_no_numbers_but_the_level(drawn):
    found = layered.outcome(FIVE.follow(drawn, [0, 40], scale=80**0.5), drawn)
    assert found.where.startswith("diverges, step")
    assert not found.learned
    assert found.best != found.best
    assert found.level == pytest.approx(
        drift.accuracy(torch.linalg.svd(drawn.data.noisy).Vh[:, :16].mT, drawn.data.labels)
        .mean()
        .item()
    )
