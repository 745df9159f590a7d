"""Networks beside partners: what counts as clustering, as far, and as variance between means."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.data import unions
from lowdim.linalg import subspaces
from lowdim.nets import networks
from lowdim.nets.architectures import Convolutional
from lowdim.preserve import looks, partners


def made(distance, *, left=0.1, projector=1.0, answers=None) -> partners.Outcome:
    """An outcome of three draws and two layers whose distances are all ``distance``."""
    d = torch.as_tensor(distance, dtype=torch.float64).expand(2, 3, 2)
    rest = torch.full((2, 3), left, dtype=torch.float64)
    run = looks.Watched(None, None, [0, 1], d, d[..., 0], rest, rest)
    said = None if answers is None else np.full(3, answers)
    return partners.Outcome(run, torch.full((3,), projector), np.ones(3), said, torch.ones(3))


def test_clustering_needs_learning_and_the_accuracy_of_its_own_kind():
    assert made(0.5).clusters
    assert not made(0.5, left=1.0).clusters
    assert not made(0.5, projector=0.8).clusters
    assert made(0.5, projector=0.1, answers=0.95).clusters
    assert not made(0.5, projector=1.0, answers=0.5).clusters


def test_far_means_clearly_farther_draw_by_draw():
    mixed = made(torch.tensor([0.5, 0.6, 0.7])[:, None])
    assert mixed.farther(made(0.5)) == pytest.approx(2 / 3)
    assert mixed.farther(made(0.56)) == pytest.approx(1 / 3)
    assert made(0.54).farther(made(0.5)) == 0.0


def test_all_variance_of_indicators_is_between_the_means_and_none_of_centred_noise():
    hot = torch.nn.functional.one_hot(torch.tensor([0, 0, 1, 1, 1])).T.double()
    assert float(partners._between(hot[None], hot)) == pytest.approx(1)
    within = torch.tensor([[[1.0, -1, 2, -1, -1]]]).double()
    assert float(partners._between(within, hot)) == pytest.approx(0)
    total = 3 * hot[:1] + within[0]
    share = float(partners._between(total[None], hot))
    between = float((3 * hot[0] - 3 * hot[0].mean()).square().sum())
    assert share == pytest.approx(between / (between + float(within.square().sum())))


@pytest.mark.parametrize("target", partners.TARGETS)
def test_networks_of_two_kinds_learn_small_data(target):
    D = unions.union_of_subspaces(trials=2, ambient=9, dims=(2, 2), sizes=(8, 8), noise=0.001)
    X, star = D.noisy.float(), subspaces.principal_rows(D.clean, 4)
    out = 2 if target == "classifier" else 9
    for net in (networks.Dense((9, 18, out)), Convolutional((3, 3), (2,), (3, 3), out)):
        found = partners.outcome(net, X, star, D.labels, target=target, steps=300, rate=0.02)
        assert found.learned
        assert (found.answers is None) == (target == "autoencoder")
        assert found.distance.shape == (len(found.watched.steps), 2)


def test_an_unknown_target_is_refused():
    with pytest.raises(ValueError, match="target must be one of"):
        net, X = networks.Dense((3, 3)), torch.ones(1, 3, 4)
        partners.outcome(net, X, X.mT.double(), np.zeros(4, dtype=int), target="both", steps=1)
