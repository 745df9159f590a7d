"""Windows on figures: nothing of a panel is cut off, nothing of another one is seen."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from lowdim.evidence import plots
from lowdim.evidence._panels import layout
from matplotlib.figure import Figure


def found(fig: Figure) -> dict[str, Any]:
    plots.svg(fig)  # which lays it out
    return layout(fig)


def filled(axes: Any) -> None:
    for ax in np.ravel(axes):
        ax.plot([0, 1], [0, 1], label="line")
        ax.set(title=r"$\lambda_1$ here", xlabel="x", ylabel="y")


def test_panels_side_by_side_are_windows_that_do_not_meet() -> None:
    fig, axes = plots.figure(7.5, 3, ncols=3)
    filled(axes)
    known = found(fig)
    assert known["size"] == [540.0, 216.0]
    assert [panel["title"] for panel in known["panels"]] == ["λ_1 here"] * 3
    boxes = [box for panel in known["panels"] for box in panel["boxes"]]
    assert len(boxes) == 3
    edges = [(box[0], box[0] + box[2]) for box in boxes]
    assert edges[0][0] >= 0 and edges[2][1] <= 540.1
    assert all(a[1] <= b[0] + 0.11 for a, b in pairwise(edges))
    for box, ax in zip(boxes, axes, strict=True):  # the axes, with room for what is written
        place = ax.get_position()
        assert box[0] < 540 * place.x0 - 20 and 540 * place.x1 < box[0] + box[2]
        assert box[1] + box[3] > 216 * (1 - place.y0) + 20


def test_a_shared_axis_is_shown_with_every_panel() -> None:
    fig, axes = plots.figure(7.5, 3, ncols=3, sharey=True)
    filled(axes)
    first, *others = (panel["boxes"] for panel in found(fig)["panels"])
    assert len(first) == 1
    for strip, own in others:
        assert strip[0] == first[0][0] and strip[2] < 0.5 * own[2]
        assert strip[1::2] == own[1::2]  # they stand side by side


def test_a_column_that_shares_its_lower_axis_stays_together() -> None:
    fig, axes = plots.figure(7.5, 5, nrows=2, ncols=2, sharex=True)
    filled(axes)
    known = found(fig)
    assert len(known["panels"]) == 2
    assert all(panel["boxes"][0][3] > 330 for panel in known["panels"])
    free, axes = plots.figure(7.5, 5, nrows=2, ncols=2)
    filled(axes)
    assert len(found(free)["panels"]) == 4


def test_a_legend_of_the_whole_figure_is_a_window_of_its_own() -> None:
    for place, at in (("outside upper center", 0), ("outside lower center", -1)):
        fig, axes = plots.figure(7.5, 3, ncols=2)
        filled(axes)
        fig.legend(*axes[0].get_legend_handles_labels(), loc=place)
        panels = found(fig)["panels"]
        assert len(panels) == 3 and panels[at]["title"] == "legend"


def test_colour_bars_stay_with_their_panel_or_stand_alone() -> None:
    image = np.eye(4)
    fig, axes = plots.figure(7.5, 3, ncols=2)
    for ax in axes:
        fig.colorbar(ax.imshow(image), ax=ax)
    known = found(fig)
    assert len(known["panels"]) == 2
    assert len(known["true"]) == 4
    fig, axes = plots.figure(7.5, 3, ncols=2)
    images = [ax.imshow(image) for ax in axes]
    fig.colorbar(images[0], ax=axes)
    assert len(found(fig)["panels"]) == 3


def test_true_colours_lie_where_the_heat_maps_are() -> None:
    fig, (left, right) = plots.figure(7.5, 3, ncols=2)
    left.pcolormesh(np.arange(5), np.arange(5), np.eye(4))
    right.plot([0, 1])
    (box,) = found(fig)["true"]
    place = left.get_position()
    assert box == pytest.approx(
        [540 * place.x0, 216 * (1 - place.y1), 540 * place.width, 216 * place.height], abs=0.6
    )


@pytest.mark.parametrize("why", ["one panel", "text", "too wide", "legend over a panel"])
def test_what_cannot_be_cut_stays_whole(why: str) -> None:
    ratios = {"width_ratios": [5, 1]} if why == "too wide" else {}
    fig, axes = plots.figure(7.5, 3, ncols=1 if why == "one panel" else 2, **ratios)
    filled(axes)
    if why == "text":
        fig.suptitle("of both")
    if why == "legend over a panel":
        fig.legend(*axes[0].get_legend_handles_labels(), loc="center left")
    assert found(fig)["panels"] == []


def test_measuring_leaves_the_figure_as_it_was() -> None:
    fig, axes = plots.figure(7.5, 3, ncols=2)
    filled(axes)
    before = plots.svg(fig)
    dpi = fig.dpi
    assert layout(fig) == layout(fig)
    assert fig.dpi == dpi
    assert plots.svg(fig) == before
