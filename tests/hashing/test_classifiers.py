"""Classifiers of images: scipy's distances, chance, and the same scores from other features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import baselines, classifiers, separation
from scipy.spatial.distance import cdist, pdist

SMALL = classifiers.Task("digits", per_class=6, test_per_class=5, width=2, epochs=6, seed=1)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def test_scores_are_ratios_of_scipy_s_distances() -> None:
    R = normal(3, 5, 4) + 2 * normal(3, 1, 4, seed=1)
    points = R.numpy()
    within = np.concatenate([pdist(p) for p in points])
    between = np.concatenate(
        [cdist(points[a], points[b]).ravel() for a in range(3) for b in range(a)]
    )
    found = classifiers.score(R, 0.5)
    assert found.rho == pytest.approx(between.mean() / within.mean())
    assert found.squares == pytest.approx((between**2).mean() / (within**2).mean())
    assert found.accuracy == 0.5
    one, other = classifiers.pair_distances(R)
    assert np.allclose(np.sort(one), np.sort(np.repeat(within, 2)))
    assert np.allclose(np.sort(other), np.sort(np.repeat(between, 2)))


def test_what_is_not_finite_has_no_ratio() -> None:
    R = normal(3, 5, 4)
    R[0, 0, 0] = torch.inf
    assert np.isnan(classifiers.score(R).rho)


def test_training_images_are_standardized_and_apart_from_test_images() -> None:
    data = SMALL.data
    assert data.train.mean().abs() < 1e-5
    assert data.train.std() == pytest.approx(1.0, abs=1e-3)
    assert data.test.shape == (10, 5, 1, 8, 8)
    assert torch.cdist(data.flat.flatten(1), data.test.flatten(0, 1).flatten(1)).min() > 0
    assert torch.equal(SMALL.shuffled.bincount(), data.labels.bincount())
    assert not torch.equal(SMALL.shuffled, data.labels)


def test_equal_tasks_train_once_and_the_last_mark_is_the_network() -> None:
    again = classifiers.Task("digits", 6, 5, 2, 6, 1)
    learnt = SMALL.learn(decay=0.01)
    assert again.learn(decay=0.01).net is learnt.net
    assert len(learnt.path) == len(SMALL.marks) and SMALL.marks[-1] == 6
    test = classifiers.measure(learnt.net, SMALL.data.test)
    assert learnt.path[-1, 1:].tolist() == pytest.approx([test.rho, test.accuracy], abs=1e-6)


def test_rescaled_networks_agree_in_scores_and_differ_in_ratio() -> None:
    net, images = SMALL.learn(decay=0.01).net, SMALL.data.test
    R, _ = classifiers.look(net, images)
    factors = torch.linspace(0.2, 3, 16)
    twin = classifiers.rescaled(net, factors)
    Q, _ = classifiers.look(twin, images)
    assert torch.allclose(Q, R * factors.repeat_interleave(4).double(), atol=1e-5)
    flat = images.flatten(0, 1)
    assert torch.allclose(twin(flat), net(flat), atol=1e-4)
    assert abs(classifiers.measure(twin, images).squares / classifiers.score(R).squares - 1) > 1e-3


def test_channel_ratios_average_to_the_whole() -> None:
    R = normal(3, 4, 12) + normal(3, 1, 12, seed=1)
    assert torch.allclose(classifiers.channel_ratios(R, 12), baselines.feature_ratios(R))
    each = classifiers.channel_ratios(R, 4)
    alone = [
        separation.rho(R[..., 3 * c : 3 * c + 3], over="mean", within="pairs") for c in range(4)
    ]
    assert torch.allclose(each, torch.stack(alone))


def test_a_reading_that_diverges_says_so() -> None:
    lost = SMALL.read(epochs=3, normalize=False, rate=1e6, loss="square")
    assert lost.diverged and lost.cells()[0] == "diverged" and lost.cells()[-1] == "–"
    assert not SMALL.read(epochs=1).diverged


def test_random_classes_can_be_rescaled_to_their_targets() -> None:
    for R, target in baselines.random_classes(20, np.random.default_rng(2)):
        found = separation.rho(R * baselines.rescale(R, target), over="mean", within="pairs")
        assert float(found) == pytest.approx(target, rel=1e-6)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="has none"):
        classifiers.rescaled(SMALL.network(normalize=False), torch.ones(16))
    with pytest.raises(ValueError, match="16 numbers above 0"):
        classifiers.rescaled(SMALL.network(), torch.ones(3))
