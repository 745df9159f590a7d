"""One direction of signal and one of noise: moments and times against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lowdim.embedded import one_signal
from lowdim.embedded.flows import Flow


def test_minima_have_the_predicted_mean_and_spread():
    found = one_signal.minima(200, seed=5)
    spread = 0.1 * math.sqrt(0.5 - 3 / math.pi**2) / (0.1 * 100)
    assert found[:, 0].mean() == pytest.approx(1 + 0.3 / math.pi, abs=5e-4)
    assert abs(found[:, 1].mean()) < 4 * spread / math.sqrt(200)
    assert found[:, 1].std() == pytest.approx(spread, rel=0.2)


def test_one_draw_serves_every_noise():
    noisy, clean = (one_signal.noisy_flow(sigma, seed=3) for sigma in (0.1, 0.0))
    assert noisy.moments[0, 0] == clean.moments[0, 0]
    assert noisy.moments[1, 1] == pytest.approx(0.01, rel=0.1)
    assert clean.moments[1, 1] == 0 == clean.target[1]


def test_settled_is_the_last_time_outside():
    flow = Flow(np.diag([1.0, 0.1]), np.array([1.0, 0.0]), depth=1)
    times = one_signal.settled(flow, [3.0, 0.04])
    assert times[0] == pytest.approx(math.log(40), rel=0.2)  # 2 exp(-t) = 0.05
    assert times[0] >= math.log(40) * 0.999
    assert times[1] == 0
    never = one_signal.settled(flow, [1.0, 1.0], until=1.0)
    assert never[1] == 1.0
