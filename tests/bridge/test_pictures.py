"""Figures are drawn with what they are given."""

from __future__ import annotations

import torch
from lowdim.bridge import clock, pictures


def test_every_reading_has_its_line() -> None:
    found = {name: torch.rand(3, 2) + 0.1 for name in clock.NAMES}
    fig = pictures.on_one_clock([0, 5, 50], found)
    assert len(fig.axes[0].lines) == len(clock.NAMES)


def test_a_panel_for_each_group() -> None:
    fig = pictures.against_decay([0.0, 0.1], {"a": {"x": torch.ones(2, 2)}, "b": {}})
    assert [ax.get_title() for ax in fig.axes] == ["a", "b"]
