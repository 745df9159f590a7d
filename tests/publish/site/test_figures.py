"""Figures on the page: no white ground, windows on one file, true colours in their places."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from docutils import nodes
from lowdim.evidence import plots
from lowdim.evidence._panels import layout
from lowdim.publish.site import figures
from myst_nb.core.render import MimeData

KNOWN: dict[str, Any] = {
    "size": [100.0, 50.0],
    "panels": [
        {"title": "a & b", "boxes": [[0.0, 0.0, 50.0, 50.0]]},
        {"title": "", "boxes": [[0.0, 0.0, 10.0, 50.0], [50.0, 0.0, 30.0, 50.0]]},
    ],
    "true": [[60.0, 10.0, 15.0, 20.0]],
}


def page(known: dict[str, Any]) -> str:
    data = MimeData(figures.SVG, "<svg/>", output_metadata={"lowdim_figure": known})
    node = figures.framed(nodes.image(uri="_images/x.svg", alt="what is seen"), data)
    translator = SimpleNamespace(body=[])
    figures._enter(translator, node)
    translator.body.append('<img src="_images/x.svg"/>')
    figures._leave(translator, node)
    return "".join(translator.body)


def test_a_drawn_figure_loses_its_ground_and_nothing_else() -> None:
    fig, axes = plots.figure(6, 3, ncols=2)
    axes[0].plot([0, 1], "o", mfc="white")
    axes[1].imshow(np.eye(3))
    before = plots.svg(fig)
    after = str(figures.without_ground(MimeData(figures.SVG, before)).content)
    assert before.count("<path") - after.count("<path") == 3  # the figure's and two axes'
    assert after.count("#ffffff") == before.count("#ffffff") - 3 > 0  # marks stay white
    assert len(before) - len(after) < 1000


def test_other_images_are_left_alone() -> None:
    data = MimeData("image/png", "aGVsbG8=")
    assert figures.without_ground(data) is data


def test_every_window_is_on_the_page_and_told_once() -> None:
    html = page(KNOWN)
    assert html.count("svgView(") == 3 + 2  # windows, and true colours in the whole and in one
    assert 'class="lowdim-figure lowdim-cut"' in html
    assert re.findall(r'alt="([^"]*)"', html.partition("lowdim-panels")[2]) == [
        "what is seen Panel 1 of 2: a &amp; b", "Panel 2 of 2", "Panel 2 of 2",
        "The same in its own colours",
    ]  # fmt: skip
    assert html.count("<span") == html.count("</span>") and html.count("</div>") == 2


def test_windows_share_the_width_as_they_were_drawn() -> None:
    assert re.findall(r"width:([\d.]+)%;aspect-ratio:(\S+)\"", page(KNOWN)) == [
        ("100.00", "50/50"), ("25.00", "10/50"), ("75.00", "30/50"),
    ]  # fmt: skip


def test_true_colours_lie_in_their_place() -> None:
    whole, _, panels = page(KNOWN).partition("lowdim-panels")
    assert "left:60.000%;top:20.000%;width:15.000%;height:40.000%" in whole
    assert "left:33.333%;top:20.000%;width:50.000%;height:40.000%" in panels


def test_a_figure_of_one_panel_stays_whole() -> None:
    assert "lowdim-panels" not in page({**KNOWN, "panels": []})


def test_what_is_measured_is_what_the_page_needs() -> None:
    fig, _ = plots.figure(6, 3, ncols=2)
    plots.svg(fig)
    assert set(layout(fig)) == set(KNOWN)
    assert page(layout(fig)).count("svgView(") == 2
