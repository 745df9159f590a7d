"""Ladders as pages show them: what is drawn and what is said agree with the data."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.evidence import _drawing as drawing
from lowdim.evidence.ladder import Ladder

VOID = {"line", "circle", "br"}


def chain(*, broken: bool) -> Ladder:
    rungs = Ladder("a chain of $a<b$")
    rungs.start(r"\|A\|_{\max}", [1.0, 2.0, 4.0])
    rungs.leq(r"\|A\|_2", [2.0, 3.0, 5.0], because="one entry")
    rungs.leq(r"\sqrt{r}", [3.0, 1.0, 1.0] if broken else [3.0, 4.0, 6.0], because="hope & $x$")
    return rungs


def drawn(rungs: Ladder) -> str:
    return drawing.html(rungs, alt=rungs.describe())


def items(html: str) -> list[str]:
    return re.findall(r"<li .*?</li>", html)


class Nested(HTMLParser):
    """Fails where a tag is closed that is not the last one opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """Nothing is left open."""


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, in order."""
    import IPython.display

    calls = []
    monkeypatch.setattr(IPython.display, "display", lambda bundle, **_: calls.append(bundle))
    return calls


def test_what_is_shown_is_a_drawing_and_a_sentence(shown):
    chain(broken=True).draw()
    chain(broken=True).draw(alt="  said\n otherwise ")
    assert [set(bundle) for bundle in shown] == [{"text/html", "text/plain"}] * 2
    assert shown[0]["text/plain"] == chain(broken=True).describe()
    assert shown[1]["text/plain"] == "said otherwise"
    assert 'aria-label="said otherwise"' in shown[1]["text/html"]
    assert "http" not in shown[0]["text/html"]  # nothing is fetched from anywhere


def test_a_broken_rung_is_marked_in_words_and_in_colour():
    html = drawn(chain(broken=True))
    first, second, third = items(html)
    assert "rung-broken" in third and "broken on 2 of 3 instances" in third
    assert not any("broken" in item for item in (first, second))
    assert chain(broken=True).describe().endswith("Broken at: √(r).")
    assert "on 3 instances" in chain(broken=True).describe()


def test_a_sound_ladder_has_no_mark():
    assert not any("broken" in item for item in items(drawn(chain(broken=False))))
    assert chain(broken=False).describe().endswith("No rung is broken.")


def test_a_rung_has_its_formula_its_reason_and_its_numbers():
    first, second, third = items(drawn(chain(broken=True)))
    assert r'<span class="math notranslate nohighlight">\(\|A\|_{\max}\)</span>' in first
    assert r"\(\le \|A\|_2\)" in second and "one entry" in second
    assert r"hope &amp; <span" in third and r"\(x\)</span>" in third
    assert all('tabindex="0"' in item for item in (first, second, third))
    told = [re.sub("<.*?>", "", item.partition("rung-numbers")[2]) for item in (first, third)]
    assert told[0].endswith("3 instances, median 2, range 1 to 4.")
    assert told[1].endswith(
        "median 1, range 1 to 3, violations 2, worst ratio 5, at index 2."
    )  # 5 / 1, on the last instance


def test_the_steps_stand_under_it_as_a_table():
    rungs = chain(broken=True)
    assert f"</summary>{rungs.table()._repr_html_()}</details>" in drawn(rungs)


@pytest.mark.parametrize("broken", [True, False])
def test_it_is_well_formed_and_repeats_itself_to_the_byte(broken):
    reader = Nested()
    reader.feed(drawn(chain(broken=broken)))
    assert reader.open == []
    assert drawn(chain(broken=broken)) == drawn(chain(broken=broken))
    assert r"\(a&lt;b\)" in drawn(chain(broken=broken))


def test_the_worst_instance_is_the_first_that_is():
    rungs = Ladder("ties")
    rungs.start("a", [1.0, 3.0, 2.0, 3.0])
    rungs.leq("b", [1.0, 1.0, 1.0, 1.0], because="no")
    rungs.eq("c", [1.0, 1.0, 2.0, 1.0], because="no")
    assert [step.worst_at for step in rungs.check()] == [1, 2]


def test_a_ladder_of_zeros_can_be_drawn():
    rungs = Ladder("zeros")
    rungs.start("a", [0.0, 0.0])
    rungs.eq("b", [0.0, 0.0], because="nothing")
    assert 'cx="0.00%"' in drawn(rungs) and drawing.NOTHING in drawn(rungs)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.integers(-18, 12))
def test_axes_hold_every_value_and_few_round_ticks(values, power):
    scaled = torch.tensor(values, dtype=torch.float64) * 10.0**power
    axis = drawing.axis([scaled])
    order = [axis.place(float(v)) for v in np.sort(scaled.numpy())]
    assert order == sorted(order) and 0 <= order[0] and order[-1] <= 100
    places = [place for place, _ in axis.ticks()]
    assert places == sorted(places)
    assert 1 <= len(places) <= drawing.TICKS + 1
    assert len({text for _, text in axis.ticks()}) == len(places)
    assert (axis.floor is not None) == bool((scaled <= 0).any())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (-4e-9, "−4·10<sup>−9</sup>"), (2.5e7, "2.5·10<sup>7</sup>"), (np.inf, "∞")],
)
def test_numbers_are_set_as_in_a_text(value, text):
    assert drawing._number(value) == text
