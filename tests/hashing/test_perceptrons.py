"""Perceptrons on manifolds: shapes, the layer that is represented, learning, refusals."""

from __future__ import annotations

import pytest
import torch
from lowdim.data import manifolds
from lowdim.hashing import perceptrons, separation

FAMILY = manifolds.LinearFamily(ambient=6, spread=0.3, tau=0.5, seed=2)
D = FAMILY.draw(m=4, n=12, dtype=torch.float32)
FIT = perceptrons.classify(D.X, width=20, epochs=60, decay=0.002)


def test_the_representation_is_what_the_last_layer_reads():
    R = FIT.represent(D.X)
    W, b = FIT.weights[-1]
    out = R @ W[0].T.double() + b[0, :, 0].double()
    assert torch.equal(out.argmax(-1), FIT.predict(D.X))
    assert R.shape == (4, 12, 20)
    assert R.min() >= 0


def test_training_learns_and_separates():
    assert FIT.accuracy(D.X) == 1.0
    before = separation.rho(FIT.represent(D.X, trained=False), over="mean")
    assert separation.rho(FIT.represent(D.X), over="mean") > 2 * before


def test_the_same_seed_gives_the_same_network_and_another_one_another():
    again = perceptrons.classify(D.X, width=20, epochs=60, decay=0.002)
    other = perceptrons.classify(D.X, width=20, epochs=60, decay=0.002, seed=1)
    torch.testing.assert_close(again.represent(D.X), FIT.represent(D.X))
    assert (other.represent(D.X) - FIT.represent(D.X)).abs().max() > 0.01


def test_depth_counts_layers():
    fit = perceptrons.classify(D.X, width=5, depth=2, epochs=1)
    assert fit.net.widths == (6, 5, 4)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"width": 0}, "you gave 0"), ({"depth": 1}, "you gave 1"), ({"rate": 1e4}, "diverged")],
)
def test_refusals(change, said):
    with pytest.raises(ValueError) as refusal:
        perceptrons.classify(D.X, **{"width": 5, "epochs": 5, **change})
    assert said in str(refusal.value)
