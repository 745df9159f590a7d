"""Condition (2) through several layers: its readings, the edge, and the explicit networks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from lowdim.linalg import subspaces
from lowdim.preserve import preservation, walks

NETWORKS = walks.Networks(3, 6, 5)


def test_the_first_layer_is_the_same_under_every_reading():
    case = NETWORKS.at_the_edge("own part")(4, np.random.default_rng(0))
    found = {name: walks.through(case, name)[0] for name in walks.READINGS}
    alone = preservation.layer(case["clean"], case["Z"], case["W"][:, 0], 4)
    for layer in found.values():
        torch.testing.assert_close(layer.output, alone.output)
        torch.testing.assert_close(layer.delta, alone.delta)


def test_readings_give_later_layers_the_clean_matrix_that_they_name():
    case = NETWORKS.at_the_edge("own part")(4, np.random.default_rng(1))
    own, mapped = (walks.through(case, name) for name in walks.READINGS[1:])
    for before, layer in pairwise(own):
        assert subspaces.distance(before.y, layer.star).max().item() < 1e-9
    for layer in mapped:
        assert subspaces.distance(mapped[0].star, layer.star).max().item() < 1e-9


def test_an_unknown_reading_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="own part"):
        walks.through(walks.amplifier(), "as printed")


@pytest.mark.parametrize("reading", walks.READINGS)
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_networks_at_the_edge_just_satisfy_the_condition(reading, share):
    case = NETWORKS.at_the_edge(reading, share)(20, np.random.default_rng(2))
    worst = walks.ratios(walks.through(case, reading), share).amin(0)
    assert bool(((worst > 1) & (worst < 2.1)).all())


def test_a_larger_share_of_epsilon_asks_less():
    found = walks.through(walks.drifting(5, 53, 75), "own part")
    torch.testing.assert_close(walks.ratios(found, 5.0), 5 * walks.ratios(found))


def test_the_amplifier_breaks_the_bound_where_the_condition_holds():
    found = walks.through(walks.amplifier(), "pushed through")
    assert bool((walks.ratios(found) > 1).all())
    assert subspaces.distance(found[0].x, found[-1].y, norm="max") > 2 * found[0].epsilon / 2
    assert not bool((walks.ratios(walks.through(walks.amplifier(), "own part")) > 1).all())


@pytest.mark.parametrize(
    ("L", "first", "rest", "share"), [(16, 12, 16, 1.0), (5, 53, 75, 5.0), (5, 2.2, 2.5, 0.2)]
)
def test_drifts_satisfy_the_condition_and_end_where_they_say(L, first, rest, share):
    t = 1 / 400
    found = walks.through(walks.drifting(L, first, rest), "own part")
    assert bool((walks.ratios(found, share) > 1).all())
    s = t * (first + (L - 1) * rest)
    expected = torch.tensor([[[1, 1, 0], [0, s, 1], [0, t, 0]]], dtype=torch.float64)
    torch.testing.assert_close(found[-1].output, expected)
    assert subspaces.projector(found[-1].y)[0, 1, 2].item() == pytest.approx(s / (2 + s * s), abs=t)


def test_turns_add_up():
    case = walks.turning(0.2, L=3)
    last = subspaces.principal_rows(case["Y"][:, -1], 1)
    assert subspaces.principal_angles(case["V"], last).item() == pytest.approx(0.6)


def test_a_search_stays_where_the_condition_holds():
    search = walks.mixing(3, 1 / 3)
    case = search.build(search.start(20, np.random.default_rng(3)))
    assert bool((walks.ratios(walks.through(case, "own part"), 1 / 3).amin(0) > 1).all())
