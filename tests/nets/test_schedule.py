"""When to measure: both ends always, rising, each step once; and refusals."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets._schedule import Progress, resolve


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3000), st.data())
def test_steps_rise_from_the_first_to_the_last(steps: int, data) -> None:
    every = data.draw(st.integers(1, 4000))
    some = data.draw(st.lists(st.integers(0, steps), max_size=5))
    for schedule in ("log", every, np.int64(every), some, tuple(map(float, some))):
        found = resolve(schedule, steps)
        assert found[0] == 0 and found[-1] == steps and found == sorted(set(found))
        assert all(isinstance(step, int) for step in found)
    assert set(resolve(every, steps)) == {s for s in range(steps + 1) if s % every == 0} | {steps}
    assert set(resolve(some, steps)) == {0, steps, *some}


def test_log_steps_are_evenly_spread_on_a_log_axis() -> None:
    found = np.array(resolve("log", 10**6))
    assert 50 < len(found) <= 61  # sixty, and 0; small ones coincide
    np.testing.assert_allclose(found[20:] / found[19:-1], 10 ** (6 / 59), rtol=0.05)
    assert found[-1] / found[-2] == pytest.approx(10 ** (6 / 59), rel=1e-5)
    assert resolve("log", 5) == [0, 1, 2, 3, 4, 5] and resolve("log", 0) == [0]


@pytest.mark.parametrize("schedule", ["linear", 0, -1, True, [11], [-1], [2.5], ["x"], 1.5, None])
def test_other_schedules_are_refused_in_a_sentence(schedule: object) -> None:
    with pytest.raises(ValueError, match=r"^schedule must be 'log', .* from 0 to 10; you gave .*"):
        resolve(schedule, 10)


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_a_bar_on_a_terminal_only(monkeypatch, terminal: bool) -> None:
    shown = io.StringIO()
    shown.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(Progress, "delay", 0)
    with Progress(10) as bar:
        bar.add(3)
        bar.add(4)
        if terminal:
            assert (bar.bar.n, bar.bar.total, bar.bar.leave) == (7, 10, False)
        else:
            assert bar.bar is None
    assert ("training" in shown.getvalue()) == terminal
