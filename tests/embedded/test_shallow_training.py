"""Networks off their plane: changes and bounds of copies of one neuron are known."""

from __future__ import annotations

import pytest
import torch
from lowdim.embedded import shallow_training


def copies(n):
    """n copies of relu(x₁ + y₁)."""
    W1 = torch.zeros(1, n, 5)
    W1[..., [0, 3]] = 1.0
    return [(W1, torch.zeros(1, n, 1)), (torch.ones(1, 1, n), torch.zeros(1, 1, 1))]


@pytest.mark.parametrize("n", [1, 3])
def test_equal_neurons_push_together(n):
    q = shallow_training.bounds(copies(n), torch.tensor([1.0, 0.0]).double())
    exact = 4 * (1 + 1 / 3)  # a square times the change on a line
    assert q.change.item() == pytest.approx(n**2 * exact, rel=1e-3)
    assert q.two.item() == pytest.approx(n**2 * (4 + 4 * 2**0.5 / 3), rel=1e-9)
    assert q.printed.item() == pytest.approx(n * (4 + 4 * 2**0.5 / 3), rel=1e-9)
    assert q.lipschitz.item() == pytest.approx(8 * n * n)
    assert (q.change > q.printed).item() == (n == 3)


def test_training_leaves_the_normal_weights_and_moves_the_others():
    how = {"nets": 2, "width": 4, "points": 40, "seed": 3}
    seen = shallow_training.train(None, epochs=2, looks=[1], **how)
    start, middle, end = (seen[epoch] for epoch in range(3))
    assert list(shallow_training.train(None, epochs=2, **how)) == [0, 2]
    assert not torch.equal(middle[1][0], end[1][0])
    assert torch.equal(start[0][0][..., 3:], end[0][0][..., 3:])
    assert not torch.equal(start[0][0][..., :3], end[0][0][..., :3])
