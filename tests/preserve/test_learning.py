"""The experiment of Section 5: its distances against projectors, trials alone and in a batch."""

from __future__ import annotations

import pytest
import torch
from lowdim.nets import training
from lowdim.preserve import learning

SETTING = learning.Setting(80, 20, seed=1)


@pytest.fixture(scope="module")
def data():
    return SETTING.draw(draws=2)


@pytest.fixture(scope="module")
def fitted(data):
    return SETTING.fit(data.clean, data.noise, steps=100)


def projectors(A):
    V = torch.linalg.svd(A.double(), full_matrices=False).Vh[:, : learning.RANK]
    return V.mT @ V


def test_a_size_that_four_does_not_divide_loses_points_and_no_dimension():
    setting = learning.Setting(83)
    assert (setting.points, setting.draw(draws=1).clean.shape) == (80, (1, 83, 80))


@pytest.mark.parametrize("key", learning.MEASURED)
def test_distances_are_those_of_projectors(data, fitted, key):
    reference, part = key.split()
    P = projectors(data.clean if reference == "truth" else data.noisy)
    for at, learned in ((0, False), (-1, True)):
        Q = projectors(fitted.outputs(learned=learned)[part == "Y"])
        expected = (P - Q).norm(dim=(1, 2)) / (2 * learning.RANK) ** 0.5
        # The network is in single precision.
        torch.testing.assert_close(fitted.run.trace[key][at], expected, rtol=1e-4, atol=0)
        largest = (P - Q).abs().amax((1, 2)).mean().item()
        assert fitted.entries(key)[at] == pytest.approx(largest, rel=1e-4)
    assert fitted.ends(key)[1] == pytest.approx(expected.mean().item(), rel=1e-4)


def test_the_first_draw_of_two_is_that_draw_alone(fitted):
    one = SETTING.draw(draws=1)
    alone = SETTING.fit(one.clean, one.noise, steps=100)
    for key, trace in alone.run.trace.items():
        torch.testing.assert_close(trace, fitted.run.trace[key][:, :1], rtol=1e-4, atol=1e-6)


def test_outputs_are_the_layer_and_its_relu(fitted):
    A, Y = fitted.outputs()
    torch.testing.assert_close(A.double(), fitted.layer() @ fitted.X.double(), rtol=1e-3, atol=1e-4)
    assert torch.equal(Y, A.relu())
    assert fitted.bias() == 0.0


def test_biases_are_told_of_a_network_that_has_them(data):
    found = SETTING.fit(data.clean, data.noise, steps=3, bias=True)
    assert found.bias().shape == (2, 20, 1)


def test_a_search_is_in_double_precision(data):
    found = SETTING.fit(data.clean, data.noise, steps=2, optimizer=training.LBFGS())
    assert found.X.dtype == found.start[0][0].dtype == torch.float64
    assert found.run.trace["loss"][-1].mean() < found.run.trace["loss"][0].mean()


def test_it_falls_if_every_draw_does(fitted):
    first, last = fitted.run.trace["data Y"][[0, -1]]
    assert fitted.falls("data Y") == bool((last < 0.95 * first).all())


def test_what_was_spent_is_read_off_the_traces(fitted):
    share, first, lowest, step, last, away, accuracy = learning.spent(fitted, SETTING)
    assert 0 < share < 1
    assert [first, last] == fitted.ends()
    assert lowest <= min(first, last)
    assert step in fitted.run.trace_steps
    assert away == fitted.ends("data Y")[1]
    assert 0.25 <= accuracy <= 1


def test_clean_data_show_their_clusters(data):
    assert SETTING.read(learning.top(data.clean)) == 1
