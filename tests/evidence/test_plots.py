"""Figures: alt text, well-formed and repeatable SVG, and marks that say what the data say."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from lowdim.evidence import plots
from matplotlib.colors import to_hex

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def shown(monkeypatch):
    """What was displayed: (bundle, metadata) of each call."""
    import IPython.display

    calls = []
    monkeypatch.setattr(
        IPython.display, "display", lambda bundle, **k: calls.append((bundle, k["metadata"]))
    )
    return calls


def every_figure(**options) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return {
        "traces": plots.traces(
            [0, 1, 10], {"loss": rng.random((3, 5)) + 0.1}, log_x=True, log_y=True,
            levels={"floor": 0.1}, alt="falls", **options,
        ),
        "projectors": plots.projectors(
            {"one": np.eye(6), "two": rng.random((6, 6))}, alt="blocks", **options
        ),
        "compare": plots.compare(
            [("a", 1.0, 1.1), ("b", None, 2.0)], xlabel="x", alt="near", log_x=True, **options
        ),
    }  # fmt: skip


def test_every_figure_is_well_formed_and_repeats_itself_to_the_byte():
    first, second = every_figure(show_figure=False), every_figure(show_figure=False)
    for name, fig in first.items():
        text = plots.svg(fig)
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg", name
        assert len(list(root.iter(f"{SVG}path"))) > 3
        assert "<dc:date>" not in text
        assert text == plots.svg(second[name]), name


def test_figures_have_a_white_ground_on_any_page():
    for fig in every_figure(show_figure=False).values():
        assert to_hex(fig.get_facecolor()) == "#ffffff"
        assert all(to_hex(ax.get_facecolor()) == "#ffffff" for ax in fig.axes[:1])


def test_what_is_shown_carries_its_alt_text(shown):
    every_figure()
    assert len(shown) == 3
    for bundle, metadata in shown:
        ElementTree.fromstring(bundle["image/svg+xml"])
        assert metadata["lowdim_alt"]
        assert bundle["text/plain"] == f"Figure: {metadata['lowdim_alt']}"
    assert shown[0][1]["lowdim_alt"] == "falls"


@pytest.mark.parametrize("alt", ["", "   ", "\n"])
def test_alt_text_that_the_chapter_writes_does_not_come_with_the_output(alt, shown):
    plots.show(plots.figure()[0], alt=alt)
    plots.traces([0], {"x": [[1.0]]})
    assert all("lowdim_alt" not in metadata for _, metadata in shown)
    assert [bundle["text/plain"] for bundle, _ in shown] == ["Figure", "Figure"]


def test_alt_text_is_one_line(shown):
    plots.show(plots.figure()[0], alt="  two\n   lines ")
    assert shown[0][1]["lowdim_alt"] == "two lines"


def test_diverged_trials_are_counted_in_the_legend_and_left_out_of_the_curve():
    values = torch.ones(4, 5)
    values[2:, 1] = torch.nan
    values[3, 4] = torch.nan
    fig = plots.traces(
        range(4), {"loss": values, "steady": torch.ones(4, 5)}, alt="flat", show_figure=False
    )
    (ax,) = fig.axes
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels == ["loss (2 of 5 diverged)", "steady"]
    assert ax.lines[0].get_ydata().tolist() == [1, 1, 1, 1]


def test_a_trace_ends_where_every_trial_has_diverged():
    values = torch.ones(4, 2)
    values[2:] = torch.nan
    fig = plots.traces([1, 2, 3, 4], {"loss": values}, alt="ends", show_figure=False)
    (ax,) = fig.axes
    assert ax.lines[0].get_xdata().tolist() == [1, 2]
    assert ax.get_legend().get_texts()[0].get_text() == "loss (2 of 2 diverged)"


def test_a_trace_is_the_median_over_trials():
    values = torch.tensor([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0]])
    fig = plots.traces([0, 7], {"x": values}, alt="rises", show_figure=False)
    assert fig.axes[0].lines[0].get_ydata().tolist() == [2, 5]
    single = plots.traces([0, 7], {"x": [3.0, 4.0]}, alt="rises", show_figure=False)
    assert single.axes[0].lines[0].get_ydata().tolist() == [3, 4]


def test_heat_maps_share_one_scale_with_white_at_zero():
    fig = plots.projectors(
        {"one": np.eye(4), "two": 0.5 - np.eye(4)}, alt="two", limit=0.25, show_figure=False
    )
    images = [ax.images[0] for ax in fig.axes if ax.images]
    assert [image.get_clim() for image in images] == [(-0.25, 0.25)] * 2
    middle = images[0].cmap(images[0].norm(0.0))
    assert min(middle[:3]) > 0.95
    zero = plots.projectors({"diagonal": np.eye(3)}, alt="one", show_figure=False)
    assert zero.axes[0].images[0].get_clim() == (-1, 1)


def test_what_was_not_reported_has_no_hollow_mark():
    fig = plots.compare([("a", 1.0, 1.1), ("b", None, 2.0)], xlabel="x", alt="n", show_figure=False)
    (ax,) = fig.axes
    labels = [line.get_label() for line in ax.lines]
    assert (labels.count("reported"), labels.count("measured")) == (1, 2)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["reported", "measured"]
