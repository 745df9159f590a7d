"""Gates: the theorem's own quantities by hand, the LSTM's against the network's forward pass."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets.architectures import Recurrent
from lowdim.preserve import gates


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_gates_change_each_entry_by_at_most_omega_of_it(seed):
    case = gates.random(4, np.random.default_rng(seed))
    found = gates.gated(case)
    change = (found.Y - found.A).abs()
    assert bool((change <= case["omega"][:, None, None] * found.A.abs() + 1e-12).all())
    assert bool((torch.linalg.matrix_norm(found.Y - found.A) <= found.bound + 1e-12).all())
    assert torch.linalg.matrix_rank(found.A).tolist() == [2] * 4
    inside = found.A @ found.star @ found.star.mT
    assert torch.allclose(inside, found.A, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-6, 0.49))
def test_the_best_pair_turns_by_the_arc_sine_of_omega(omega):
    found = gates.gated(gates.best_pair(omega))
    assert abs(float(found.angle.sin()) - omega) < 1e-7
    assert abs(float(found.bound / found.signal) - omega) < 1e-9


def test_no_other_centre_gives_a_smaller_omega():
    rng = np.random.default_rng(0)
    G = torch.from_numpy(rng.uniform(0.1, 1, (3, 4, 6)))
    H = torch.from_numpy(rng.uniform(0, 1, (3, 4, 6)) * (rng.random((3, 4, 6)) < 0.7))
    H[..., 0] = 1.0
    _, omega, _ = gates.hypotheses(H, G, 2)
    for a in np.linspace(0.05, 1.0, 60):
        far = torch.where(H > 0, (G / a - 1).abs(), 0.0).amax(-1)  # the same a for all units
        assert bool((far.amax(-1) >= omega - 1e-12).all())


def test_constant_gates_ask_for_nothing_and_turn_nothing():
    H = torch.from_numpy(np.random.default_rng(1).standard_normal((2, 5, 7))).relu()
    rank, omega, nu = gates.hypotheses(H, torch.full_like(H, 0.25), 2)
    assert omega.tolist() == nu.tolist() == [0.0, 0.0]
    assert rank.tolist() == torch.linalg.matrix_rank(H).tolist()


def test_every_layer_of_an_lstm_is_its_gates_times_its_candidate():
    net = Recurrent(6, 5, 3, 6)
    X = torch.from_numpy(np.random.default_rng(2).standard_normal((2, 6, 9))).float()
    weights = net.init(trials=2, seed=4)
    layers, _ = net.forward(weights, X)
    for k, entering in enumerate([X, *layers[:-1]]):
        _, H, G = gates.opened(weights, k, entering)
        assert torch.allclose((G * H).float(), layers[k], atol=1e-5)
    found = gates.asked(net, weights, X, 2)
    expected = gates.hypotheses(*gates.opened(weights, 0, X)[1:], 2)
    for row, value in zip(found[:, 0], expected, strict=True):
        assert torch.allclose(row, value.double())
