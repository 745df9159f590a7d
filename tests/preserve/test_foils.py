"""Foils: what they share with data in clusters, and what they do not."""

from __future__ import annotations

import pytest
import torch
from lowdim.linalg import subspaces
from lowdim.preserve import blocks, foils, learning

SETTING = learning.Setting(80, 20, seed=2)
DATA = SETTING.draw(draws=2)


def test_shuffled_coefficients_are_the_same_ones_row_by_row():
    V = DATA.bases.pinverse() @ foils.shuffled(DATA, seed=2)
    expected = DATA.coefficients.sort(-1).values
    torch.testing.assert_close(V.sort(-1).values, expected, rtol=1e-8, atol=1e-8)


def test_a_cloud_has_the_singular_values_and_the_columns_of_the_data():
    found = foils.cloud(DATA, seed=2)
    s, expected = (torch.linalg.svdvals(A) for A in (found, DATA.clean))
    torch.testing.assert_close(s, expected, rtol=1e-9, atol=1e-9)
    for made, clean in zip(found, DATA.clean, strict=True):
        pair = (subspaces.row_space(A.T) for A in (made, clean))
        assert subspaces.distance(*pair).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("kind", ["shuffled", "cloud", "nuisance"])
def test_foils_show_no_clusters(kind):
    V = learning.top(getattr(foils, kind)(DATA, seed=2))
    # Three quarters of the pairs are of different clusters.
    assert blocks.off_block(V, DATA.labels).min() > 0.3
    assert blocks.off_block(learning.top(DATA.clean), DATA.labels).max() < 1e-9


@pytest.mark.parametrize("kind", foils.KINDS)
def test_the_first_draw_of_two_is_that_draw_alone(kind):
    many = foils.data(SETTING, kind, draws=2)
    for both, one in zip(many, foils.data(SETTING, kind, draws=1), strict=True):
        torch.testing.assert_close(both[:1], one)


def test_a_nuisance_is_stronger_than_the_clusters():
    signal, strong = (
        torch.linalg.svdvals(A)[:, learning.RANK - 1]
        for A in (DATA.clean, foils.nuisance(DATA, seed=2))
    )
    assert bool((strong > 2 * signal).all())
    half = foils.nuisance(DATA, seed=2, strength=1.5)
    torch.testing.assert_close(2 * half, foils.nuisance(DATA, seed=2))


def test_coefficients_as_printed_are_smaller_by_the_root_of_the_dimension():
    printed, _ = foils.data(SETTING, "clusters, variance 1/m as printed", draws=2)
    torch.testing.assert_close(80**0.5 * printed, DATA.clean)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of 'clusters', .*; you gave 'dust'"):
        foils.data(SETTING, "dust", draws=1)
