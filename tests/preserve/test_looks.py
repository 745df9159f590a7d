"""Networks watched in training: looks that can be checked by hand, and runs of any kind."""

from __future__ import annotations

import pytest
import torch
from lowdim.data import unions
from lowdim.linalg import subspaces
from lowdim.nets import architectures, networks
from lowdim.preserve import drift, looks


def made(distance, *, accuracy=None, remaining=None) -> looks.Watched:
    """A run from lists: distance (looks, draws, layers), the others (looks, draws)."""
    distance = torch.tensor(distance, dtype=torch.float64)
    flat = torch.zeros(distance.shape[:2], dtype=torch.float64)
    others = [
        flat if value is None else torch.tensor(value, dtype=torch.float64)
        for value in (None, accuracy, remaining)
    ]
    return looks.Watched(None, None, list(range(len(distance))), distance, *others)


def test_a_layer_has_fallen_if_it_is_lower_in_nine_of_ten_draws():
    start = [[0.5, 0.5]] * 10
    nine = [[0.4, 0.4]] * 8 + [[0.4, 0.6], [0.6, 0.6]]  # layer 1 in nine, layer 2 in eight
    run = made([start, nine])
    assert [look.fallen for look in run.looks] == [0, 1]
    assert run.most == 1
    assert not run.looks[1].every


def test_the_mean_may_be_lower_where_a_layer_is_not():
    run = made([[[0.5, 0.5]] * 4, [[0.1, 0.6]] * 4])
    assert run.looks[1].lower
    assert run.looks[1].fallen == 1


def test_the_best_look_is_among_those_that_learned_after_the_start():
    flat = [[[0.5]] * 3] * 4
    accuracy = [[0.99] * 3, [0.95] * 3, [0.7] * 3, [0.6] * 3]
    left = [[0.0] * 3, [2.0] * 3, [0.1] * 3, [0.1] * 3]
    run = made(flat, accuracy=accuracy, remaining=left)
    assert [look.step for look in run.learned] == [2, 3]
    assert run.best.step == 2
    assert run.three("accuracy") == [0.99, 0.7, 0.6]


def test_a_run_that_has_not_learned_is_void_and_says_so():
    run = made([[[0.5]] * 3, [[0.4]] * 3], remaining=[[1.0] * 3, [1.0] * 3])
    assert not run.trained
    assert run.most == 0
    (line,) = looks.lines({("narrow", 0.1): run})
    assert line["agrees"] is None
    assert looks.table([("narrow", 0.1, run)]).rows[0][2] == "1.00, void"
    assert str(looks.summary([run])["learned"]) == "0 of 1"


def test_what_diverged_is_void():
    run = made([[[0.5]], [[float("nan")]]])
    assert run.diverged
    assert looks.table([("wild", 0.1, run)]).rows[0][2] == "diverged: void"


@pytest.mark.parametrize(
    "net",
    [
        networks.Dense((12, 6, 6, 12), bias=False),
        architectures.Recurrent(12, 6, 2, 12),
    ],
)
def test_looks_equal_what_the_trained_network_shows(net):
    D = unions.union_of_subspaces(trials=2, ambient=12, dims=(2, 2), sizes=(8, 8), noise=0.01)
    X, star = D.noisy.float(), subspaces.principal_rows(D.clean, 4)
    run = looks.train(net, X, star, labels=D.labels, steps=20)
    dense = isinstance(net, networks.Dense)
    outputs = net.forward(run.weights, X)[1][:-1] if dense else net.forward(run.weights, X)[0]
    spaces = drift.spaces(X, outputs, outputs, 4)
    assert torch.allclose(run.distance[-1], spaces.step(), atol=1e-6)
    assert torch.allclose(run.drift[-1], spaces.drift(star)[:, -1], atol=1e-6)
    assert run.accuracy[-1].tolist() == spaces.accuracy(D.labels)[:, -1].tolist()
    assert run.steps[-1] == 20


def test_curves_of_a_figure_are_medians_over_draws():
    run = made([[[0.5], [0.7], [0.9]], [[0.1], [0.2], [0.6]]])
    line = looks.draw({"a": run, "b": run}, level=0.8).axes[0].get_lines()[0]
    assert line.get_ydata().tolist() == [0.7, 0.2]
