"""The rule for a panel on numbers made up so that the answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.evidence.values import Share
from lowdim.preserve import imagenets, imagesets, portraits

SWEPT = [2, 5, 10]


def made(**changes: Any) -> portraits.Portrait:
    """Three r of which two count; nothing falls and nothing clusters, but for ``changes``."""
    values: dict[str, Any] = {"swept": SWEPT, "drawn": 5, "groups": 4, "fresh_answers": 0.5}
    values |= {"data": [[0.1] * 3, [0.4, 0.5, 0.3], [0.6, 0.2, 0.3]], "gap": [9.0, 1.2, 1.1]}
    for target in portraits.TARGETS:
        values[f"{target}_start"] = [[0.8, 0.9]] * 3
        values[f"{target}_end"] = [[0.4, 0.9]] * 3
        values[f"{target}_falls"] = [[0.0, 0.0]] * 3
        values[f"{target}_projector"] = [[0.5] * 3] * 3
        values[f"{target}_kmeans"] = [0.6] * 3
        values[f"{target}_layers"] = [[[0.8] * 5, [0.9] * 5], [[0.4] * 5, [0.7] * 5]]
    return portraits.Portrait(values | changes, 3)


def test_only_r_from_the_number_of_classes_on_count():
    assert made().counted == [1, 2]
    assert made(groups=50).counted == [1]  # none would: the drawn one does


@pytest.mark.parametrize(
    ("falls", "expected"),
    [
        ([[1, 0], [0, 0], [0, 0]], "not-reproduced"),  # at an r that does not count
        ([[0, 0], [1, 0], [0, 1]], "partly"),  # no reading at every r
        ([[0, 0], [1, 1], [0.95, 0]], "reproduced"),
        ([[0, 0], [1, 1], [0.85, 0]], "partly"),  # in fewer than nine of ten draws
    ],
)
def test_a_panel_asks_one_reading_for_every_r(falls, expected):
    assert made(autoencoder_falls=falls).panel() == expected
    assert made(shuffled_falls=falls).panel() == "not-reproduced"  # it is a control


def test_one_network_must_do_both():
    falls = [[1, 1]] * 3
    apart = made(autoencoder_falls=falls, classifier_kmeans=[0.95] * 3)
    assert apart.both() == [] and apart.together() == "not-reproduced"
    one = made(classifier_falls=[[1, 0]] * 3, classifier_kmeans=[0.95] * 3)
    assert one.both() == [("classifier", 0, 5), ("classifier", 0, 10)]
    assert (one.together(), one.kinds()) == ("reproduced", {0})


def test_all_three_scores_must_be_near_perfect():
    assert not made(classifier_projector=[[1, 1, 0.89]] * 3).nears("classifier")
    assert made(classifier_projector=[[0, 0, 0], [1, 1, 0.9], [0, 0, 0]]).nears("classifier")


def test_the_best_r_is_that_of_the_largest_smallest_score():
    assert made().best("data") == [0.4, 0.5, 0.3]
    assert made().top("data") == 0.6 and made().top("gap") == 1.2


def test_lines_compare_what_the_cells_show():
    found = made(autoencoder_falls=[[0, 0], [1, 0], [1, 0]])
    first, *rest = found.panel_lines("Dots")
    assert first["agrees"] and first["measured"] == [0.8, 0.4]
    assert str(first["reading"]).endswith("falls at 2 of 2 r")
    assert not any(line["agrees"] for line in rest)
    assert [line["agrees"] for line in found.section_lines("Dots")] == [False, False]
    assert found.form_line("Dots")["measured"] == [0.4, 0.5, 0.3]
    assert found.change_cells()[4:] == ("none",) * 3


@given(st.lists(st.sampled_from(["reproduced", "partly", "not-reproduced"]), min_size=1))
def test_a_figure_is_what_all_its_panels_are(words):
    assert portraits.overall(words) == portraits.overall(words[::-1])
    assert (portraits.overall(words) == "reproduced") == (set(words) == {"reproduced"})
    assert portraits.overall(words, missing=1) != "reproduced"


def test_counts_over_sets_add_up():
    pool = {"a": made(), "b": made(classifier_falls=[[1, 1]] * 3, classifier_kmeans=[1.0] * 3)}
    counts = portraits.over_sets(pool)
    assert counts["unmet"] == Share(1, 2) and counts["keeping"] == Share(1, 2)
    assert counts["apart"].count + counts["keeping"].count == 2
    assert counts["perfect"] == Share(1, 2) and counts["closed_near"] == Share(0, 2)


def test_a_portrait_measures_what_its_rule_reads():
    data = imagesets.draw(per_class=4, classes=2, draws=2)
    course = imagenets.Course(data, hidden=12, ranks=(1, 3), rank=3, epochs=2, batch=8)
    goals = {"autoencoder": None, "classifier": data.labels, "shuffled": data.shuffled}
    runs = {name: course.fit(goal) for name, goal in goals.items()}
    found = portraits.portrait(course, runs)
    start, end = found.went("classifier", 1, 0)
    assert start == pytest.approx(runs["classifier"].distances[0, :, 0, 1].mean())
    assert end == pytest.approx(runs["classifier"].distances[-1, :, 0, 1].mean())
    low, middle, high = (
        np.asarray(found.values[f"shuffled_{k}"]) for k in ("low", "layers", "high")
    )
    assert (low <= middle + 1e-12).all() and (middle <= high + 1e-12).all()
    for price, mass in zip(found.values["price"], found.values["off_block"], strict=True):
        assert (mass / 2) ** 0.5 - 0.05 <= price <= mass**0.5 + 0.05
    assert found.panel() in ("reproduced", "partly", "not-reproduced")
    assert len(found.ends()) == 4 and len(found.score_cells()) == 4
