"""Trained networks against their population: identities of gaps, and bounds as properties."""

from __future__ import annotations

import pytest
import torch
from lowdim.hashing import bounds, complexity, gap_pictures, trained_gaps

SMALL = {"width": 20, "repeats": 2, "unseen": 20, "seed": 1}


@pytest.fixture(scope="module")
def runs():
    return trained_gaps.networks([3, 5], [2, 4], **SMALL)


def test_every_size_is_trained_so_many_times_and_kept(runs):
    assert [(run.m, run.n) for run in runs] == [
        (m, n) for m in (3, 5) for n in (2, 4) for _ in range(2)
    ]
    assert trained_gaps.networks((3, 5), (2, 4), **SMALL) is runs


def test_a_gap_is_at_most_that_of_the_worst_matrix_and_that_at_most_our_bound(runs):
    for run in runs:
        for line in trained_gaps.lines(run, 0.05).values():
            assert line.gap <= line.ours < line.paper
            if line.worst is not None:
                assert line.gap <= line.worst * (1 + 1e-9)
                assert line.worst <= line.ours


def test_at_the_needed_number_the_bound_is_the_goal(runs):
    run = runs[0]
    line = trained_gaps.lines(run, 0.05)["51: V, new manifolds"]
    needed, _ = line.needed
    at = run.size * bounds.variance_new_manifolds(needed, run.zeta, 0.05)
    assert at == pytest.approx(run.variance[0])


def test_variance_on_the_sample_is_that_of_the_features(runs):
    for run in runs:
        inside = complexity.within(run.Z)
        top = torch.linalg.eigvalsh(inside)[-1]
        assert 0 < run.variance[0] <= run.size * float(top)
        assert float(run.Z.norm(dim=-1).max()) <= run.zeta


def test_cases_hold_all_networks(runs):
    found = trained_gaps.cases(runs, 0.05)
    assert list(found) == list(trained_gaps.lines(runs[0], 0.05))
    for case in found.values():
        assert case["left"].shape == case["right"].shape == (len(runs),)
        assert bool((case["left"] >= 0).all())


def test_bounds_get_looser_with_certainty_and_the_picture_shows_both_axes(runs):
    sure, unsure = (trained_gaps.looseness(runs, delta) for delta in (0.01, 0.5))
    assert all(a > b > 1 for a, b in zip(sure, unsure, strict=True))
    fig = gap_pictures.variance_gaps(runs)
    assert [ax.get_xlabel() for ax in fig.axes] == ["$m$", "$n$"]
